package expr

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// A Compiler compiles expressions for a schema node. It reuses a CEL environment, because creating
// an environment costs far more than compiling an expression. It is not safe for concurrent use.
type Compiler struct {
	env   *celenv.Env
	decl  *types.Decl
	bare  bool // self and oldSelf are not declared
	limit int64
	bad   func(src string, err error) error
	// plain and optional are the environments for rules without and with optionalOldSelf.
	plain, optional *cel.Env
}

// NewCompiler returns a Compiler for expressions whose self is declared as d. An evaluation stops
// when its cost exceeds limit. bad converts the error of an invalid expression. NewCompiler returns
// types.ErrHidden if d has no CEL type.
func NewCompiler(env *celenv.Env, d *types.Decl, limit int64, bad func(src string, err error) error) (*Compiler, error) {
	c := &Compiler{env: env, decl: d, limit: limit, bad: bad}
	_, err := c.Env(false)
	return c, err
}

// NewBareCompiler is like NewCompiler, but self and oldSelf are not declared. d only determines the
// Kubernetes version of evaluation.
func NewBareCompiler(env *celenv.Env, d *types.Decl, limit int64, bad func(src string, err error) error) (*Compiler, error) {
	c := &Compiler{env: env, decl: d, bare: true, limit: limit, bad: bad}
	_, err := c.Env(false)
	return c, err
}

// Decl returns the declaration of self.
func (d *Compiler) Decl() *types.Decl { return d.decl }

// Version returns the Kubernetes version whose expressions are compiled.
func (d *Compiler) Version() types.Version { return d.env.Version() }

// Limit returns the cost limit of an evaluation.
func (d *Compiler) Limit() int64 { return d.limit }

// Env returns the environment of the expressions. If optionalOldSelf is set, oldSelf is an
// optional.
func (d *Compiler) Env(optionalOldSelf bool) (env *cel.Env, err error) {
	env = d.plain
	if optionalOldSelf {
		env = d.optional
	}
	if env != nil {
		return env, nil
	}
	var roots []celenv.Root
	if !d.bare {
		roots = celenv.RuleRoots(d.decl, optionalOldSelf)
	}
	if env, err = d.env.With(roots); err != nil {
		return nil, err
	}
	if optionalOldSelf {
		d.optional = env
	} else {
		d.plain = env
	}
	return env, nil
}

// Compile compiles an expression of any type and estimates its cost.
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
	checked, err := celenv.Check(env, src)
	if err != nil {
		return nil, err
	}
	x, err := Plan(eval.NewPlanner(env), d.decl, checked, src, d.limit)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err) // the server's words
	}
	x.estimate = celcost.For(d.Version()).Of(checked, d.decl)
	return x, nil
}

// Eval evaluates an expression that d compiled with the same optionalOldSelf. old is nil if oldSelf
// has no value.
func (d *Compiler) Eval(ctx context.Context, x *Expr, optionalOldSelf bool, self, old any) eval.Outcome {
	vars := eval.BindOld(d.decl, self, old)
	if optionalOldSelf {
		vars = vars.Optional()
	}
	return x.Run(ctx, vars)
}
