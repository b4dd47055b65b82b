// Package record evaluates an expression node by node. It reports the value and the cost of each
// node, and the values that determined the result.
//
//	p, err := record.New(compiler, x.AST(), x.Source(), false) // compiler is an *expr.Compiler
//	t, err := p.Run(ctx, self, old, record.NewBudget(record.MaxObjectWork))
//	for _, part := range t.Why() { … }
//
// Explanations (x/trace), searches (x/analysis/search), and the shell use it.
package record

// How it works. The evaluator that validates objects also explains them, with a plan that records
// each node (eval.Recorder). So an explanation ends where the evaluation ended: at the cost limit,
// before a call that would cost too much, or when its context is done. The result is a Trace, which
// can be presented as reasons for a value (why.go) or as a tree (tree.go).

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// Program is an expression that can be traced. It is safe for concurrent use.
type Program struct {
	checked  *cel.Ast
	source   *lex.Source
	decl     *types.Decl
	optional bool
	recorder *eval.Recorder
	varying  map[int64]bool // by node ID: whether it reads a variable
	perPart  uint64
}

// New returns the program of an expression that d checked with the same optionalOldSelf. The error
// is an *eval.OverworkError if a constant pattern is too large to compile again.
func New(d *expr.Compiler, checked *cel.Ast, src string, optionalOldSelf bool) (*Program, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	return newProgram(env, d.Decl(), d.Limit(), checked, src, optionalOldSelf, maxElements)
}

// Compile compiles a rule whose self has declaration d. limit is the CEL cost limit of an
// evaluation. It returns the errors of New and Scope.Compile.
func Compile(scope *celenv.Scope, d *types.Decl, limit int64, src string, optionalOldSelf bool) (*Program, error) {
	checked, err := scope.Compile(d, optionalOldSelf, src)
	if err != nil {
		return nil, err
	}
	return newProgram(scope.Env(), d, limit, checked, src, optionalOldSelf, maxElements)
}

func newProgram(env *cel.Env, d *types.Decl, limit int64, checked *cel.Ast, src string, optionalOldSelf bool, elements int) (*Program, error) {
	if celenv.LargePattern(checked) {
		return nil, &eval.OverworkError{Why: "a pattern has too many states to be compiled again"}
	}
	p := &Program{
		checked: checked, source: lex.NewSource(src, checked), decl: d, optional: optionalOldSelf,
		varying: variablesIn(checked.NativeRep().Expr()), perPart: uint64(perPart + perByte*len(src)),
	}
	var err error
	p.recorder, err = eval.NewPlanner(env).PlanRecorded(checked, celenv.RuleRoots(d, optionalOldSelf), limit, elements)
	return p, err
}

func (p *Program) constant(e ast.Expr) bool { return !p.varying[e.ID()] }

func (p *Program) root() ast.Expr { return p.checked.NativeRep().Expr() }

// Run evaluates the expression as a rule is evaluated; old is nil if no old value exists. The error is
// an *eval.OverworkError if the evaluation takes more work than the budget or the limits of an
// explanation allow, or an *eval.InternalError for a bug in Celadon.
func (p *Program) Run(ctx context.Context, self, old any, budget *Budget) (*Trace, error) {
	vars := eval.BindOld(p.decl, self, old)
	vars.SetOptional(p.optional)
	limit := min(budget.left, maxWork)
	if limit == 0 {
		budget.ended = true
		return nil, errBudget
	}
	vars.LimitWork(limit)
	out, record := p.recorder.Eval(ctx, vars)
	budget.spend(vars.Work())
	switch out.Err.(type) {
	case *eval.OverworkError:
		if limit < maxWork && budget.left == 0 {
			budget.ended = true
			return nil, errBudget
		}
		return nil, out.Err
	case *eval.InternalError:
		return nil, out.Err
	}
	return &Trace{Value: out.Value, Err: out.Err, Cost: out.Cost, program: p, vars: vars, record: record, budget: budget}, nil
}

// Trace is the record of an evaluation. The nodes of a macro's body hold the values for the last element evaluated.
type Trace struct {
	// Value and Err are the result, and Cost is the cost of the whole expression in CEL cost units.
	Value ref.Val
	Err   error
	Cost  uint64

	program *Program
	vars    *eval.Activation
	record  *eval.Record
	budget  *Budget
}

// Cut reports whether the budget, which traces can share, was too small to show all parts and values.
func (t *Trace) Cut() bool { return t.budget.ended }

// at returns the value of a node and its cost including all operands, summed over the elements of a macro. ok is
// false if the node was not evaluated. In a chain of selections and indexes, only the whole chain has a value.
func (t *Trace) at(e ast.Expr) (value ref.Val, units uint64, ok bool) {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral(), 0, true
	}
	if v := t.record.Value(e.ID()); v != nil {
		return v, t.record.Cost(e.ID()), true
	}
	return nil, 0, false
}

func chained(e ast.Expr) ast.Expr {
	switch {
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly():
		return e.AsSelect().Operand()
	case isIndex(e):
		return e.AsCall().Args()[0]
	}
	return nil
}
