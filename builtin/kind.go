package builtin

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// A Resource is a built-in kind in one version.
type Resource struct {
	schema.GroupVersionKind
	// Name is the plural name in URLs.
	Name string
}

// Lookup returns a built-in kind, or nil if there is none.
func Lookup(gvk schema.GroupVersionKind) *Resource {
	if served := all()[gvk]; served != nil {
		return &served.Resource
	}
	return nil
}

// clusterScoped reports whether the objects of a resource belong to no namespace.
func (s *served) clusterScoped(end *endpoint) bool {
	endpoints, err := s.endpoints()
	if err != nil {
		return false
	}
	scoper, ok := endpoints[""].storage.(rest.Scoper)
	return ok && !scoper.NamespaceScoped()
}
