// Package repl implements the interactive shell for developing the rules of a CRD: it evaluates
// expressions over an object, reports their cost, and edits rules.
//
// A [Session] holds the state. It performs no I/O; files and other outside services are reached
// through its [Host]. [Run] reads lines from a [LineReader] (a terminal, a pipe, or a test) and
// prints the replies:
//
//	s, err := repl.NewSession(repl.Config{})
//	err = s.LoadCRD(doc)
//	err = repl.Run(ctx, s, repl.Lines(os.Stdin), os.Stdout)
//
// [Session.Do] executes a line. [Session.Eval] evaluates an expression and returns its value, type,
// cost, and estimate. [Session.Complete] returns completions at a position in a line.
// [Session.Open] sorts the content of files, and [Session.Evaluator] evaluates an expression over many
// objects.
package repl

// How it works: a Session has a current state. A command builds the next state and commits it; if the command
// fails, the state does not change. :undo returns to earlier states. All commands are listed in a table
// (commands.go). x/crdedit applies the edit of a rule to the text of the CRD. The edited text must parse to
// the same value except for the edit, and is decoded again (document.go). Assistance that needs no session,
// such as completion in an expression, is in x/assist. Lints that need an example object or a proof are in
// x/analysis/lint.
