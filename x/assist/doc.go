// Package assist helps to write an expression at a place of a schema: what can stand
// there, what is there and what it costs, what is wrong and how to mend it.
//
//	p, err := assist.NewPlace(e, schema, "v1", "spec.hosts[*]")
//	p.Part = assist.Rule
//	p.CompleteAt("self.na", 7)                  // name
//	p.Hover("self.name != ''", 6).Lines()       // its type, bounds, cost, share of the limit
//	p.Call("self.name.substring(", 20)          // the forms of substring
//	for _, problem := range p.Problems("self.name = ''") {
//		assist.Apply("self.name = ''", problem.Fixes[0].Edits) // self.name == ''
//	}
//
// It knows a place and the values there, no session, and does no I/O: shell, editor and
// page share it.
package assist

// How it works. Half-written text has a tree, too (types.ParseTolerant). For completion
// a word of our own stands where the cursor is, and is looked for in the tree; what
// leads there are the macros whose variables the cursor sees (view.go). A resolver
// follows an expression through declarations, schema and values without checking it
// (resolve.go); the type of what has no declaration the checker gives, of the part alone
// with the macros around it made anew (tree.go).
//
// What cel-go says of an expression falls into few classes: the text does not parse
// (syntax.go, mend_syntax.go), a name is not known (names.go, mend_names.go), types do
// not fit (overload.go, kinds.go, mend_types.go), or there is no value while it runs
// (runtime.go). A class is told by the beginning of cel-go's text. A text of a kind
// that is not known here gets no words: better none than wrong ones. Words say what to
// do, mends do it; each mend was tried (mending.go).
