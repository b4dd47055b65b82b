// Package lsp is celadon lsp: a language server for CRDs with CEL rules, the objects
// of them, suites of celadon test and, where the workspace is trusted, Go markers.
// What it says of a file is what vet, check and test say of it, from its text in the
// editor.
package lsp

// How it works. The wire calls the server on the goroutine that reads: notifications
// change the documents there, and a request takes a view of its document there and
// works on it elsewhere. One goroutine makes rounds: when documents have changed and
// a moment is quiet, it looks at each (analyse.go) and publishes what it found, if the
// document is still what it looked at; a change ends the look at what it changes. What
// a round found, engines among it, is kept for the requests until the next: types do
// not change while somebody writes a rule.
//
// A text is split as for vet and check (part.go). What a request is about is found in
// the text as it is (tree.go), which need not be YAML, and what is known of the schema
// in the CRD of the last round.
//
// CRDs of the workspace are found by a walk with bounds (workspace.go) and kept in one
// room (crds.go), where the text of an open file stands before what is on disk. Whoever
// wrote a workspace may be hostile: nothing of it is run, no link is followed out of
// it, and Go packages, which can name files elsewhere, are read only where the editor
// says that the user trusts them.
