package policyrequest

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
)

// A Subresource is a subresource of a built-in kind whose requests contain objects of a kind of its own, such as exec.
// Only policies decide them.
type Subresource struct {
	Of   builtin.Kind
	Name string

	kind schema.GroupVersionKind
	all  *Builtins
}

// Subresource returns the subresource whose requests contain objects of a kind, or nil.
func (b *Builtins) Subresource(kind schema.GroupVersionKind) *Subresource {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil
	}
	of, name, ok := catalog.Subresource(kind)
	if !ok {
		return nil
	}
	return &Subresource{of, name, kind, b}
}

// connects reports whether requests have no body: a server makes the object from the URL.
func (s *Subresource) connects() bool { return strings.HasSuffix(s.kind.Kind, "Options") }

// Operation returns the operation of requests.
func (s *Subresource) Operation() policy.Operation {
	if s.connects() {
		return policy.OperationConnect
	}
	return policy.OperationCreate
}

// Subject returns the subject of requests.
func (s *Subresource) Subject() Subject {
	return Subject{Resource: s.Of.GroupVersion().WithResource(s.Of.Resource), Kind: s.kind, mergeable: s.all.mergeable}
}

// Object returns a document as policies see it. The object of a connection, such as PodExecOptions, has no metadata.
func (s *Subresource) Object(document map[string]any) map[string]any {
	object := maps.Clone(document)
	if s.connects() {
		delete(object, "metadata")
	}
	if s.all.Server != nil {
		s.all.Server.SetDefaults(s.kind, object)
	}
	return object
}
