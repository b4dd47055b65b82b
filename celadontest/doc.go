// Package celadontest tests objects against CustomResourceDefinitions in go test,
// with the API server's answers and without an API server.
//
//	func TestWidget(t *testing.T) {
//		crds := celadontest.New(t, "../config/crd")
//		crds.Accepts(t, widget)
//		crds.Rejects(t, broken, celadontest.Cause{Field: "spec.size", Message: "must be positive"})
//		crds.Update(widget).Rejects(t, renamed, celadontest.Message("name is immutable"))
//	}
//
// An object is a Go struct, an *unstructured.Unstructured, a map[string]any, or one
// YAML or JSON document as a string or []byte. A Go struct goes through JSON, as a
// client sends it: a field without omitempty is there, with its zero value, and
// defeats a default.
//
// A write whose answer is undecided, because a rule asks for more work than is
// done, fails the test: in Rejects, too.
package celadontest

// How it works: the CRDs of a call of New are a lazy catalog, which compiles a CRD
// when an object asks for it. Catalogs are shared by all tests of a process: their
// key is what the sources hold (shared.go). A write takes the engine's whole path
// (write.go); what is refused is told with the rule and the values in it
// (explain.go).
