// Package lsp implements celadon lsp, a language server for CRDs with CEL rules, their objects, policies,
// test suites, and, in trusted workspaces, Go markers. It reports the findings of celadon vet, check, and test for
// the text in the editor, without lints about missing policies and bindings, which may be in other files.
package lsp

// How it works. The goroutine that reads calls the server. Notifications change the documents there.
// A request takes a view of its document there and is processed on another goroutine. A further
// goroutine makes rounds: when documents have changed and then stay unchanged for a moment, it
// analyzes them (analyze.go) and publishes the findings of each document that has not changed
// meanwhile. A change cancels the analysis of its document. The results, including engines, are kept
// for requests until the next round. This is sufficient because types do not change while the user
// edits a rule.
//
// A text is split as for vet and check (part.go). The position of a request is resolved in the
// current text (package editor), which need not be valid YAML, with the schema of the CRD from the
// last round.
//
// A limited walk finds the CRDs of the workspace (workspace.go). They are kept together with those
// in open files, which take precedence over the files on disk (crds.go). The workspace is untrusted:
// nothing in it is run, and no link out of it is followed. Go packages, which can refer to files
// elsewhere, are read only if the user trusts the workspace.
