// Package assist helps authors write expressions at a path in a schema. It provides completion,
// hover information with types and costs, signatures, problems, and their fixes.
//
//	p, err := assist.NewContext(e, schema, "v1", "spec.hosts[*]")
//	p.Part = assist.Rule
//	p.CompleteAt("self.na", 7)                  // name
//	p.Hover("self.name != ''", 6).Lines()       // its type, bounds, cost, share of the limit
//	p.Call("self.name.substring(", 20)          // the forms of substring
//	for _, problem := range p.Problems("self.name = ''") {
//		assist.Apply("self.name = ''", problem.Fixes[0].Edits) // self.name == ''
//	}
//
// The package has no session state and does no I/O, so the shell, the language server, and the
// playground share it.
package assist

// How it works. Incomplete expressions are parsed as well (celenv.ParseTolerant). For completion, a
// placeholder identifier is inserted at the cursor and searched for in the tree. The comprehensions
// on the path to it are the macros whose variables are in scope at the cursor (view.go). A resolver
// follows an expression through declarations, schema, and values without checking it (resolve.go).
// If a part has no declaration, the checker computes its type from that part alone, wrapped in
// copies of the enclosing macros (view.go).
//
// Errors from cel-go fall into a few classes, which are recognized by a part of the message:
// syntax errors (syntax.go, fix_syntax.go), unknown names (names.go, fix_names.go), type errors
// (overload.go, fix_bool.go, fix_types.go), and runtime errors (codes.go). An unrecognized message
// gets no hint, because a wrong hint is worse than none. Advice.Words describe a remedy;
// Advice.Fixes apply it, and each fix was tried before it is offered (fixer.go).
