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
	roots []celenv.Root
	// envs holds the environments by optionalOldSelf.
	envs map[bool]*cel.Env
}

// NewCompiler returns a Compiler for expressions whose self is declared as d. If bare is set, self
// and oldSelf are not declared, and d only determines the Kubernetes version of evaluation. An
// evaluation stops when its cost exceeds limit. bad converts the error of an invalid expression.
// Unless bare is set, NewCompiler returns types.ErrHidden if d has no CEL type.
func NewCompiler(env *celenv.Env, d *types.Decl, bare bool, limit int64, bad func(src string, err error) error) (*Compiler, error) {
	c := &Compiler{env: env, decl: d, bare: bare, limit: limit, bad: bad, envs: map[bool]*cel.Env{}}
	_, err := c.Env(false)
	return c, err
}

// Declare declares variables in addition to self and oldSelf. Expressions compiled afterwards cannot be evaluated.
func (c *Compiler) Declare(roots []celenv.Root) { c.roots, c.envs = roots, map[bool]*cel.Env{} }

// Decl returns the declaration of self.
func (c *Compiler) Decl() *types.Decl { return c.decl }

// Version returns the Kubernetes version whose expressions are compiled.
func (c *Compiler) Version() types.Version { return c.env.Version() }

// Limit returns the cost limit of an evaluation.
func (c *Compiler) Limit() int64 { return c.limit }

// Env returns the environment of the expressions. If optionalOldSelf is set, oldSelf is an
// optional.
func (c *Compiler) Env(optionalOldSelf bool) (env *cel.Env, err error) {
	if env = c.envs[optionalOldSelf]; env != nil {
		return env, nil
	}
	var roots []celenv.Root
	if !c.bare {
		roots = celenv.RuleRoots(c.decl, optionalOldSelf)
	}
	if env, err = c.env.With(append(roots, c.roots...)); err != nil {
		return nil, err
	}
	c.envs[optionalOldSelf] = env
	return env, nil
}

// Compile compiles an expression of any type and estimates its cost.
func (c *Compiler) Compile(src string, optionalOldSelf bool) (*Expr, error) {
	env, err := c.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	x, err := c.compile(env, src)
	if err != nil {
		return nil, c.bad(src, err)
	}
	return x, nil
}

func (c *Compiler) compile(env *cel.Env, src string) (*Expr, error) {
	checked, err := celenv.Check(env, src)
	if err != nil {
		return nil, err
	}
	x := &Expr{src: src, decl: c.decl, checked: checked}
	if len(c.roots) == 0 {
		if x, err = Plan(eval.NewPlanner(env), c.decl, checked, src, c.limit); err != nil {
			return nil, fmt.Errorf("program instantiation failed: %w", err) // the server's words
		}
	}
	x.estimate = celcost.For(c.Version()).Of(checked, c.decl)
	return x, nil
}

// Eval evaluates an expression that c compiled with the same optionalOldSelf. old is nil if oldSelf
// has no value.
func (c *Compiler) Eval(ctx context.Context, x *Expr, optionalOldSelf bool, self, old any) eval.Outcome {
	vars := eval.BindOld(c.decl, self, old)
	vars.SetOptional(optionalOldSelf)
	return x.Run(ctx, vars)
}
