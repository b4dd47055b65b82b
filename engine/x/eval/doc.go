// Package eval runs checked CEL expressions over decoded JSON.
//
//	prog, err := eval.New(env, ast, decl, perCallLimit)
//	out := prog.Eval(ctx, eval.Bind(decl, self))
//	if out.Err == nil && out.Value == types.True { … }
//
// A Program is immutable and safe for concurrent use; an Activation belongs to
// one goroutine, and can be bound again and again. Results, error texts and
// cost units are those of the API server.
//
// What cel-go itself refuses to plan is an error of New. An evaluation that asks
// for too much work, which CEL's cost does not see, ends in an OverworkError.
package eval

// How it works: the planner walks the checked AST once and makes closures of
// it, in the form that the checked type and the declaration allow (code.go).
// Fields, keys and indexes are resolved against the declaration and walk the
// decoded JSON (path.go); operators, string functions and `in` have code for
// ints, doubles, strings, bools and lists (typed.go and its neighbours); the
// macros are known again by what the parser made of them, and run as loops
// (macro.go, loop.go). What has no such code is evaluated on CEL's own values,
// with the functions that the environment binds, dispatched as cel-go does
// (call.go, path_boxed.go, fold.go). A map is gone through by sorted key.
//
// Cost is added where work is done. A typed operator has its cost beside its
// code; a call on boxed values asks the Kubernetes estimator (cost.go). When
// the limit is passed, the evaluation panics with a value of its own and Eval
// makes an Outcome of that: no && or || around can absorb it.
//
// Work is added before it is done (work.go): by typed code where it looks at
// bytes, and for a library's call by the table of work_table.go. Its limit ends the
// evaluation in the same way.
//
// A Recorder evaluates with the same code, in which each node notes its value and
// its cost (record.go, watch.go).
//
// An error is kept in the frame, and code says by its result that there is one.
// It is the same error as cel-go's also where two could be given: both sides of
// an operator are evaluated, and the first one's error counts; the last error
// of a filter's predicate counts, but the first of a map's item.
