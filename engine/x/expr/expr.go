// Package expr compiles rules and other expressions, and exposes cel-go's types. Celadon's own packages
// use it for rules, traces, and the shell. Other programs use engine.Expr, which does not depend on
// cel-go's types.
package expr

import (
	"context"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// An Expr is an expression compiled for a schema node: a rule, a messageExpression, or a line of
// the shell. Except for Forget, it is immutable and safe for concurrent use.
type Expr struct {
	src     string
	decl    *types.Decl
	checked *cel.Ast
	program *eval.Program
	usesOld bool
	// readsMetadata is set if the value may depend on fields of metadata that the type of self lacks.
	readsMetadata bool

	estimate cost.Estimate
}

// Plan returns the Expr for a checked expression. An evaluation stops when its cost exceeds limit.
func Plan(p *eval.Planner, d *types.Decl, checked *cel.Ast, src string, limit int64) (*Expr, error) {
	program, err := p.Plan(checked, d, limit)
	if err != nil {
		return nil, err
	}
	return &Expr{src: src, decl: d, checked: checked, program: program, usesOld: Mentions(checked, types.OldSelf), readsMetadata: readsMetadata(checked.NativeRep().Expr())}, nil
}

// Overworked returns an Expr for an expression that is too complex to be checked. Evaluating it fails with an
// eval.OverworkError.
func Overworked(d *types.Decl, src string, why error) *Expr {
	return &Expr{src: src, decl: d, program: eval.Overworked(why.Error()), usesOld: strings.Contains(src, types.OldSelf)}
}

// Forget releases the checked expression, which evaluation does not need. AST then returns nil.
func (x *Expr) Forget() { x.checked = nil }

// Source returns the source of the expression.
func (x *Expr) Source() string { return x.src }

// AST returns the checked expression. It returns nil after Forget and for the result of Overworked.
func (x *Expr) AST() *cel.Ast { return x.checked }

// Type returns the type of the expression's value. Do not call it if AST returns nil.
func (x *Expr) Type() *cel.Type { return x.checked.OutputType() }

// Estimate returns the estimated cost of an evaluation. Only expressions from Compiler.Compile have
// an estimate.
func (x *Expr) Estimate() cost.Estimate { return x.estimate }

// UsesOldSelf reports whether the expression mentions oldSelf.
func (x *Expr) UsesOldSelf() bool { return x.usesOld }

// ReadsMetadata reports whether the value of an expression at the root of an object may depend on fields
// of metadata other than name and generateName.
func (x *Expr) ReadsMetadata() bool { return x.readsMetadata }

// Eval evaluates the expression for a value of its schema node. If old is nil, oldSelf is an
// unknown attribute.
func (x *Expr) Eval(ctx context.Context, self, old any) eval.Outcome {
	return x.program.Eval(ctx, eval.BindOld(x.decl, self, old))
}

// Run evaluates the expression with variables that are already bound.
func (x *Expr) Run(ctx context.Context, vars *eval.Activation) eval.Outcome {
	return x.program.Eval(ctx, vars)
}

// Program returns the planned expression.
func (x *Expr) Program() *eval.Program { return x.program }

// Mentions reports whether the expression refers to a variable of that name. Like upstream, it also
// counts macro variables.
func Mentions(checked *cel.Ast, variable string) bool {
	for _, ref := range checked.NativeRep().ReferenceMap() {
		if ref.Name == variable {
			return true
		}
	}
	return false
}
