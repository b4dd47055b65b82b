// Package celadontest checks in Go tests whether the API server would accept custom resources,
// without an API server.
//
//	func TestWidget(t *testing.T) {
//		crds := celadontest.New(t, "../config/crd")
//		crds.Accepts(t, widget)
//		crds.Rejects(t, broken, celadontest.Cause{Field: "spec.size", Message: "must be positive"})
//		crds.Update(widget).Rejects(t, renamed, celadontest.Message("name is immutable"))
//	}
//
// An object is a Go struct, an *unstructured.Unstructured, a map[string]any, or a YAML or JSON
// document as a string or []byte. A Go struct is encoded as JSON, as a client would send it. A
// field without omitempty or omitzero is therefore always sent, if only with its zero value. Unless
// that is null, the default of the field is not applied.
//
// If a write has no verdict because its rules exceed the work limit, the test fails, also in
// Rejects.
package celadontest

// How it works: New loads CRDs into a lazy catalog, which compiles a CRD when it is first used. All
// tests of a process share catalogs, keyed by the content of the sources (shared.go). A write runs
// through all stages of the engine. Failures list the rules that rejected an object, and the values
// in them (write.go).
