package input

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Identity is what names an object. Its JSON form is fixed.
type Identity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// Identity returns what names the document's object. It is computed at each call.
func (d *Document) Identity() Identity { return Identify(d.Object) }

// Identify returns what names an object. The name of an object with generateName only is
// that prefix.
func Identify(obj map[string]any) Identity {
	text := func(m map[string]any, name string) string {
		s, _ := m[name].(string)
		return s
	}
	meta, _ := obj["metadata"].(map[string]any)
	name := text(meta, "name")
	if name == "" {
		name = text(meta, "generateName")
	}
	return Identity{APIVersion: text(obj, "apiVersion"), Kind: text(obj, "kind"), Namespace: text(meta, "namespace"), Name: name}
}

// Called returns the object's kind, group, namespace and name as one text.
func (id Identity) Called() string { return Called(id.GroupKind(), id.Namespace, id.Name) }

// Called returns a kind, group, namespace and name as one text.
func Called(gk schema.GroupKind, namespace, name string) string {
	return strings.Join([]string{gk.String(), namespace, name}, "/")
}

// GroupKind returns the object's group and kind, by which its CRD is found.
func (id Identity) GroupKind() schema.GroupKind {
	gv, _ := schema.ParseGroupVersion(id.APIVersion)
	return schema.GroupKind{Group: gv.Group, Kind: id.Kind}
}
