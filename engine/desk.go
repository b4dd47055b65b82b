package engine

import (
	"context"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/types"
)

// Desk tries many expressions at one place, with one CEL environment for all:
// an environment costs far more than an expression. It is not safe for
// concurrent use.
type Desk struct {
	node   *Node
	env    *types.Env
	limits limits
	// plain and optional are the environments by what oldSelf is.
	plain, optional *cel.Env
}

// Desk makes a desk at the place. The error is types.ErrHidden where rules
// cannot stand.
func (n *Node) Desk() (*Desk, error) {
	c, err := newCompiler(n.engine.config)
	if err != nil {
		return nil, err
	}
	d := &Desk{node: n, env: c.env, limits: c.limits}
	_, err = d.Env(false)
	return d, err
}

// Node is the desk's place.
func (d *Desk) Node() *Node { return d.node }

// Env is the environment of the place's expressions; with optionalOldSelf,
// oldSelf is an optional.
func (d *Desk) Env(optionalOldSelf bool) (env *cel.Env, err error) {
	if optionalOldSelf {
		if d.optional == nil {
			d.optional, err = d.env.For(d.node.decl, true)
		}
		return d.optional, err
	}
	if d.plain == nil {
		d.plain, err = d.env.For(d.node.decl, false)
	}
	return d.plain, err
}

// Compile is as Node.Compile; with optionalOldSelf, oldSelf is an optional.
func (d *Desk) Compile(src string, optionalOldSelf bool) (x *Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, bug(p)
		}
	}()
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	checked, err := types.Check(env, src)
	if err == nil {
		x = newExpr(d.node.decl, checked, src)
		err = x.plan(eval.NewPlanner(env), d.limits.PerCall)
	}
	if err == nil {
		err = x.price(env)
	}
	if err != nil {
		return nil, d.node.badRule(src, err)
	}
	return x, nil
}

// Eval evaluates an expression that the desk compiled with the same
// optionalOldSelf; old is nil when there is none.
func (d *Desk) Eval(ctx context.Context, x *Expr, optionalOldSelf bool, self, old any) eval.Outcome {
	return x.program.Eval(ctx, d.activation(optionalOldSelf, self, old))
}

// Limit is what one evaluation may cost.
func (d *Desk) Limit() int64 { return d.limits.PerCall }

func (d *Desk) activation(optionalOldSelf bool, self, old any) *eval.Activation {
	a := eval.BindOld(d.node.decl, self, old)
	if optionalOldSelf {
		a = a.Optional()
	}
	return a
}

// AST is the checked expression.
func (x *Expr) AST() *cel.Ast { return x.ast }
