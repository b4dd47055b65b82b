package celenv

import (
	"cmp"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/types"
)

// Compile parses and checks src with self declared as d. It also returns the environment in which
// to plan the expression and estimate its cost. To compile many expressions, use a Scope, which is
// faster.
//
// The error is types.ErrHidden if d has no CEL type, an *IssuesError or an UntypedError if the
// expression is invalid, a *ComplexError if it is too complex, and a *PanicError if cel-go panics
// while it checks the expression.
func (e *Env) Compile(d *types.Decl, optionalOldSelf bool, src string) (env *cel.Env, checked *cel.Ast, err error) {
	env, err = e.For(d, optionalOldSelf)
	if err != nil {
		return nil, nil, err
	}
	if checked, err = Check(env, src); err != nil {
		return nil, nil, err
	}
	return env, checked, nil
}

// A PanicError reports that cel-go panics while it checks an expression, as an API server does.
type PanicError struct {
	// Panic is the text of the panic.
	Panic string
	on    string // the expressions on which it panics, if known
}

func (e *PanicError) Error() string {
	on := cmp.Or(e.on, "`[?x]` if x has type dyn (use optional.of(x))")
	return "CEL's libraries panic on it, as on " + on + ": " + e.Panic
}
