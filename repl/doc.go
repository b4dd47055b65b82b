// Package repl is the authoring shell: it tries, prices and edits the rules of a
// CRD over an object.
//
// A [Session] holds the state and does no I/O of its own; what it needs of the
// world it asks its [Host]. [Run] is the loop over a [LineReader], which is a
// terminal, a pipe or a test:
//
//	s, err := repl.NewSession(repl.Config{})
//	err = s.LoadCRD(doc)
//	err = repl.Run(ctx, s, repl.Lines(os.Stdin), os.Stdout)
//
// [Session.Do] answers one line, [Session.Eval] one expression with its value,
// type, cost and estimate, and [Session.Complete] says what fits at a place of a
// line.
package repl

// How it works: a Session is at one state, and a command makes the next one and
// commits it, or fails and leaves the state alone; undo goes back over states
// (session.go). Commands stand in one table (commands.go). An edit of a rule is
// put into the CRD's text by x/crdedit, and the text is read again and
// compared before it counts (ruleedit.go). What needs no session, as what can stand
// at a place of an expression, is x/assist's; what takes an object,
// x/analysis/lint's.
