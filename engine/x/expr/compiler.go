package expr

import (
	"context"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// Compiler tries many expressions at one place, with one CEL environment for all:
// an environment costs far more than an expression. It is not safe for
// concurrent use.
type Compiler struct {
	env   *types.Env
	decl  *types.Decl
	limit int64
	bad   func(src string, err error) error
	// plain and optional are the environments by what oldSelf is.
	plain, optional *cel.Env
}

// NewCompiler makes a desk where self is declared as d. An evaluation stops when its
// cost passes limit; bad words the error of an expression. The error is
// types.ErrHidden where rules cannot stand.
func NewCompiler(env *types.Env, d *types.Decl, limit int64, bad func(src string, err error) error) (*Compiler, error) {
	desk := &Compiler{env: env, decl: d, limit: limit, bad: bad}
	_, err := desk.Env(false)
	return desk, err
}

// Decl is the declaration of the desk's place.
func (d *Compiler) Decl() *types.Decl { return d.decl }

// Limit is what one evaluation may cost.
func (d *Compiler) Limit() int64 { return d.limit }

// Env is the environment of the place's expressions; with optionalOldSelf,
// oldSelf is an optional.
func (d *Compiler) Env(optionalOldSelf bool) (env *cel.Env, err error) {
	env = d.plain
	if optionalOldSelf {
		env = d.optional
	}
	if env != nil {
		return env, nil
	}
	if env, err = d.env.For(d.decl, optionalOldSelf); err != nil {
		return nil, err
	}
	if optionalOldSelf {
		d.optional = env
	} else {
		d.plain = env
	}
	return env, nil
}

// Compile compiles an expression of any type, and prices it.
func (d *Compiler) Compile(src string, optionalOldSelf bool) (*Expr, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	x, err := d.compile(env, src)
	if err != nil {
		return nil, d.bad(src, err)
	}
	return x, nil
}

func (d *Compiler) compile(env *cel.Env, src string) (*Expr, error) {
	checked, err := types.Check(env, src)
	if err != nil {
		return nil, err
	}
	x, err := Plan(eval.NewPlanner(env), d.decl, checked, src, d.limit)
	if err != nil {
		return nil, err
	}
	x.estimate, err = cost.Of(env, checked, d.decl)
	return x, err
}

// Eval evaluates an expression that the desk compiled with the same
// optionalOldSelf; old is nil when there is none.
func (d *Compiler) Eval(ctx context.Context, x *Expr, optionalOldSelf bool, self, old any) eval.Outcome {
	vars := eval.BindOld(d.decl, self, old)
	if optionalOldSelf {
		vars = vars.Optional()
	}
	return x.Run(ctx, vars)
}
