package input

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Identity identifies an object. Its JSON form is fixed.
type Identity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// Identity returns the identity of the document's object.
func (d *Document) Identity() Identity { return Identify(d.Object) }

// Identify returns the identity of obj. If obj has no name, its generateName is used.
func Identify(obj map[string]any) Identity {
	text := func(m map[string]any, name string) string {
		s, _ := m[name].(string)
		return s
	}
	meta := Metadata(obj)
	name := text(meta, "name")
	if name == "" {
		name = text(meta, "generateName")
	}
	return Identity{APIVersion: text(obj, "apiVersion"), Kind: text(obj, "kind"), Namespace: text(meta, "namespace"), Name: name}
}

// Metadata returns the metadata of obj, or nil. In contrast to unstructured.Unstructured, it does not format metadata
// of another type for an error, which could be large.
func Metadata(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	return meta
}

// Called returns the kind, group, namespace, and name as a string.
func (id Identity) Called() string { return Called(id.GroupKind(), id.Namespace, id.Name) }

// Called returns gk, namespace, and name as a string.
func Called(gk schema.GroupKind, namespace, name string) string {
	return strings.Join([]string{gk.String(), namespace, name}, "/")
}

// GroupKind returns the object's group and kind, which identify its CRD.
func (id Identity) GroupKind() schema.GroupKind {
	gv, _ := schema.ParseGroupVersion(id.APIVersion)
	return schema.GroupKind{Group: gv.Group, Kind: id.Kind}
}

// Version returns the version in the object's apiVersion.
func (id Identity) Version() string {
	gv, _ := schema.ParseGroupVersion(id.APIVersion)
	return gv.Version
}

// A Text is the content of a file, which need not exist.
type Text struct {
	File string
	Data []byte
}

// Documents yields each document, in order.
func (t Text) Documents(yield func(*Document) bool) {
	SplitText(t.File, t.Data, func(c Chunk) bool { return c.Each(yield) })
}
