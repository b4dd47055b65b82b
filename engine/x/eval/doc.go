// Package eval evaluates checked CEL expressions over decoded JSON.
//
//	prog, err := eval.New(env, ast, decl, perCallLimit)
//	out := prog.Eval(ctx, eval.Bind(decl, self))
//	if out.Err == nil && out.Value == types.True { … }
//
// A Program is immutable and safe for concurrent use. An Activation belongs to a single goroutine
// and can be bound repeatedly. Results, error messages, and costs are the same as in the API server.
//
// New returns an error if cel-go cannot plan the expression. An evaluation that needs too much
// work, which CEL's cost does not measure, ends with an OverworkError.
package eval

// How it works: the planner walks the checked AST once and turns it into closures, using the best form that the checked
// type and the declaration allow (code.go). Fields, keys, and indexes are resolved against the declaration and then
// walk the decoded JSON (path.go). Operators, string functions, and `in` have typed code for ints, strings, bools, and
// lists (typed.go and its neighbors). Macros are recognized by their expansion and run as loops (macro.go, loop.go).
// Everything else is evaluated on ref.Vals with the functions that the environment binds, dispatched as in cel-go
// (call.go, path_boxed.go, fold.go). Maps are iterated in key order.
//
// Cost is added where the work is done. The cost of a typed operator is next to its code; the costs of calls on boxed
// values are in cost.go and price.go. If the limit is exceeded, the evaluation panics with a private value, which Eval
// turns into an Outcome, so no && or || can absorb it.
//
// Work is added before it is done (work.go): by typed code where it reads bytes, and for library calls by the table in
// work_table.go. Exceeding the work limit ends the evaluation in the same way.
//
// A Recorder evaluates with the same code, except that each node records its value and its cost (record.go, watch.go).
//
// An error is stored in the frame; the result of a function only reports whether there is an error. The error equals
// cel-go's even if several are possible.
