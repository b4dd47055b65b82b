package celenv

import (
	"cmp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"

	"github.com/celadon-cel/celadon/types"
)

// Compile parses and checks src with self declared as d. It also returns the environment in which
// to plan the expression and estimate its cost. To compile many expressions, use a Scope, which is
// faster.
//
// The error is an *IssuesError if the expression is invalid, a *ComplexError if it is too complex,
// and a *PanicError if cel-go panics while it checks the expression.
func (e *Env) Compile(d *types.Decl, optionalOldSelf bool, src string) (env *cel.Env, checked *cel.Ast, err error) {
	env, err = e.For(d, optionalOldSelf)
	if err != nil {
		return nil, nil, err
	}
	if checked, err = compile(env, src); err != nil {
		return nil, nil, err
	}
	return env, checked, nil
}

// A PanicError reports that cel-go panics while it checks an expression. An API server panics too:
// when a new CRD contains the expression, and on each write to objects of a stored CRD.
type PanicError struct {
	// Panic is the text of the panic.
	Panic string
	on    string // the expressions on which it panics, if known
}

func (e *PanicError) Error() string {
	on := cmp.Or(e.on, "`[?x]` if x has type dyn (use optional.of(x))")
	return "CEL's libraries panic on it, as on " + on + ": " + e.Panic
}

// An IssuesError holds the errors found by the parser or the checker.
type IssuesError struct {
	src    string
	issues *cel.Issues
}

// Errors returns the errors, each with the ID of its expression.
func (e *IssuesError) Errors() []*common.Error { return e.issues.Errors() }

// Error returns the API server's error text.
func (e *IssuesError) Error() string { return e.issues.String() }

// Place returns the line and column of the first error, counted from 1, and a snippet: that line
// and a second line with a caret. It returns zero values if the position is unknown.
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
