// Package expr has expressions with cel-go's types in the open, for the rooms
// that look into them: rules, traces and the shell. Embedders see them as
// engine.Expr, whose types are ours.
package expr

import (
	"context"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// Expr is one compiled expression at one place of a schema: a rule, a
// messageExpression or a line of the shell. It is immutable and safe for
// concurrent use.
type Expr struct {
	src     string
	decl    *types.Decl
	checked *cel.Ast
	program *eval.Program
	usesOld bool

	estimate cost.Estimate
}

// Plan makes an expression of a checked one; an evaluation stops when its cost
// passes limit.
func Plan(p *eval.Planner, d *types.Decl, checked *cel.Ast, src string, limit int64) (*Expr, error) {
	program, err := p.Plan(checked, d, limit)
	if err != nil {
		return nil, err
	}
	return &Expr{src: src, decl: d, checked: checked, program: program, usesOld: Mentions(checked, types.OldSelf)}, nil
}

// Overworked is an expression that is too complex to be checked: to evaluate it
// is too much work.
func Overworked(d *types.Decl, src string, why error) *Expr {
	return &Expr{src: src, decl: d, program: eval.Overworked(why.Error()), usesOld: strings.Contains(src, types.OldSelf)}
}

// Forget drops what only a person needs: the checked expression.
func (x *Expr) Forget() { x.checked = nil }

// Source is the expression's text.
func (x *Expr) Source() string { return x.src }

// AST is the checked expression; nil in rules, which keep only what evaluation
// needs.
func (x *Expr) AST() *cel.Ast { return x.checked }

// Type is the type of the expression's value.
func (x *Expr) Type() *cel.Type { return x.checked.OutputType() }

// Estimate is the range of costs that one evaluation may have; only a Compiler
// tells it.
func (x *Expr) Estimate() cost.Estimate { return x.estimate }

// UsesOldSelf is true when the expression mentions oldSelf.
func (x *Expr) UsesOldSelf() bool { return x.usesOld }

// Eval evaluates the expression over a value of its place; old is nil when
// there is none, and oldSelf then unknown.
func (x *Expr) Eval(ctx context.Context, self, old any) eval.Outcome {
	return x.program.Eval(ctx, eval.BindOld(x.decl, self, old))
}

// Run is Eval with variables that are bound already.
func (x *Expr) Run(ctx context.Context, vars *eval.Activation) eval.Outcome {
	return x.program.Eval(ctx, vars)
}

// Mentions looks for a variable where upstream looks, so that a macro's variable
// of that name counts too.
func Mentions(checked *cel.Ast, variable string) bool {
	for _, ref := range checked.NativeRep().ReferenceMap() {
		if ref.Name == variable {
			return true
		}
	}
	return false
}
