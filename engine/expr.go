package engine

import (
	"context"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/types"
)

// Expr is one compiled expression at one place of a schema: a rule, a
// messageExpression or a line of the shell. It is immutable and safe for
// concurrent use.
type Expr struct {
	src     string
	decl    *types.Decl
	ast     *cel.Ast // nil in rules: they keep only what evaluation needs
	program *eval.Program
	usesOld bool

	estimate cost.Estimate
}

// Source is the expression's text.
func (x *Expr) Source() string { return x.src }

// Type is the type of the expression's value, as CEL writes it.
func (x *Expr) Type() *cel.Type { return x.ast.OutputType() }

// Estimate is the range of costs that one evaluation may have.
func (x *Expr) Estimate() cost.Estimate { return x.estimate }

// UsesOldSelf is true when the expression mentions oldSelf.
func (x *Expr) UsesOldSelf() bool { return x.usesOld }

// Eval evaluates the expression over a value of its place; old is nil when
// there is none, and oldSelf then unknown. The cost limit is the one the
// expression was compiled with.
func (x *Expr) Eval(ctx context.Context, self, old any) eval.Outcome {
	return x.program.Eval(ctx, eval.BindOld(x.decl, self, old))
}

func newExpr(d *types.Decl, checked *cel.Ast, src string) *Expr {
	return &Expr{src: src, decl: d, ast: checked, usesOld: mentions(checked, types.OldSelf)}
}

// neverRun is an expression that is too complex to be checked.
func neverRun(d *types.Decl, src string, why error) *Expr {
	return &Expr{src: src, decl: d, program: eval.Overworked(why.Error()), usesOld: strings.Contains(src, types.OldSelf)}
}

func (x *Expr) plan(p *eval.Planner, limit int64) (err error) {
	x.program, err = p.Plan(x.ast, x.decl, limit)
	return err
}

func (x *Expr) price(env *cel.Env) (err error) {
	x.estimate, err = cost.Of(env, x.ast, x.decl)
	return err
}

// mentions looks where upstream looks, so that a macro's variable of that name
// counts too.
func mentions(checked *cel.Ast, variable string) bool {
	for _, ref := range checked.NativeRep().ReferenceMap() {
		if ref.Name == variable {
			return true
		}
	}
	return false
}
