package types

import (
	"strings"

	"github.com/google/cel-go/cel"
)

// Compile parses and checks one expression whose self is declared as d; where
// there are many, a Scope is faster. The environment is the one to plan and
// price it with. The error is an *IssuesError where the expression is bad, a
// *ComplexError where it is too complex, and a *PanicError where it makes cel-go
// panic.
func (e *Env) Compile(d *Decl, optionalOldSelf bool, src string) (env *cel.Env, checked *cel.Ast, err error) {
	env, err = e.For(d, optionalOldSelf)
	if err != nil {
		return nil, nil, err
	}
	if checked, err = compile(env, src); err != nil {
		return nil, nil, err
	}
	return env, checked, nil
}

// PanicError means that cel-go panics over an expression while it checks it, and
// with it an API server: over one that a new CRD brings, and over each object of a
// stored one.
type PanicError struct {
	// Panic is the panic's text.
	Panic string
}

func (e *PanicError) Error() string {
	return "CEL's libraries panic over it, as over `[?x]` with an x of type dyn (optional.of(x) says what is meant): " + e.Panic
}

// IssuesError is what the parser or the checker found.
type IssuesError struct {
	src    string
	issues *cel.Issues
}

// Error is the API server's text.
func (e *IssuesError) Error() string { return e.issues.String() }

// Place is where the first finding is, from 1, and that line with a caret.
func (e *IssuesError) Place() (line, column int, snippet string) {
	found := e.issues.Errors()
	if len(found) == 0 {
		return 0, 0, ""
	}
	line, column = found[0].Location.Line(), max(0, found[0].Location.Column())+1
	lines := strings.Split(e.src, "\n")
	if line < 1 || line > len(lines) {
		return 0, 0, ""
	}
	text := strings.ReplaceAll(lines[line-1], "\t", " ")
	return line, column, text + "\n" + strings.Repeat(" ", column-1) + "^"
}
