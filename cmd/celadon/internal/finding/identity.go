package finding

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Identity is what names an object.
type Identity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// Identify reads what names an object; a name that is to be generated is its
// beginning.
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

// Called is what an object is called: its kind, group, namespace and name.
func (id Identity) Called() string { return Called(id.GroupKind(), id.Namespace, id.Name) }

// Called puts together what an object is called.
func Called(gk schema.GroupKind, namespace, name string) string {
	return strings.Join([]string{gk.String(), namespace, name}, "/")
}

// GroupKind is what the object's CRD is found by.
func (id Identity) GroupKind() schema.GroupKind {
	gv, _ := schema.ParseGroupVersion(id.APIVersion)
	return schema.GroupKind{Group: gv.Group, Kind: id.Kind}
}
