package builtin

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// A Resource is a built-in kind in one version.
type Resource struct {
	schema.GroupVersionKind
	// Name is the plural name in URLs.
	Name string
	// Type is the Go type of the objects.
	Type reflect.Type

	endpoints func() (map[string]*endpoint, error) // created when a request needs them
}

// Lookup returns the resource of a built-in kind, or nil if there is none.
func Lookup(gvk schema.GroupVersionKind) *Resource { return all()[gvk] }

// Namespaced reports whether the objects belong to namespaces.
func (r *Resource) Namespaced() bool {
	endpoints, err := r.endpoints()
	if err != nil {
		return false
	}
	scoper, ok := endpoints[""].storage.(rest.Scoper)
	return ok && scoper.NamespaceScoped()
}
