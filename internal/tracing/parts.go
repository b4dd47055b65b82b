package tracing

import (
	"context"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/types"
)

// Parts gives the value of any part of an expression, each on its own: where an
// object is being made that fits, one part after the other is asked what it
// would be. Like a Trace it is far slower than what evaluates rules. It is not
// safe for concurrent use.
type Parts struct {
	env      *cel.Env
	checked  *cel.Ast
	decl     *types.Decl
	limit    int64
	optional bool
	planned  map[int64]cel.Program
}

// NewParts is for an expression that the desk compiled with the same
// optionalOldSelf. The error is an *eval.OverworkError where a constant is a
// pattern too large to be made once more.
func NewParts(d *expr.Desk, x *expr.Expr, optionalOldSelf bool) (*Parts, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	if types.LargePattern(x.AST()) {
		return nil, &eval.OverworkError{Why: "a pattern has too many states to be made once more"}
	}
	return &Parts{env: env, checked: x.AST(), decl: d.Decl(), limit: d.Limit(), optional: optionalOldSelf, planned: map[int64]cel.Program{}}, nil
}

// Root is the whole expression.
func (p *Parts) Root() ast.Expr { return p.checked.NativeRep().Expr() }

// Type is what the checker knows of a part's type.
func (p *Parts) Type(part ast.Expr) *celtypes.Type { return p.checked.NativeRep().GetType(part.ID()) }

// Bind is what self and oldSelf are; old is nil when there is none.
func (p *Parts) Bind(self, old any) interpreter.Activation {
	vars := eval.BindOld(p.decl, self, old)
	if p.optional {
		vars = vars.Optional()
	}
	return vars
}

// Value evaluates a part. vars is what Bind gives, and before it the variables
// of the macros around the part. What has no value is a CEL error.
func (p *Parts) Value(ctx context.Context, part ast.Expr, vars interpreter.Activation) (v ref.Val) {
	defer func() {
		if r := recover(); r != nil {
			v = celtypes.NewErr("internal error: %v", r)
		}
	}()
	program, err := p.plan(part)
	if err != nil {
		return celtypes.WrapErr(err)
	}
	v, _, err = program.ContextEval(ctx, vars)
	if err != nil {
		return celtypes.WrapErr(err)
	}
	return v
}

func (p *Parts) plan(part ast.Expr) (cel.Program, error) {
	if program := p.planned[part.ID()]; program != nil {
		return program, nil
	}
	whole := p.checked.NativeRep()
	sub := ast.NewCheckedAST(ast.NewAST(part, whole.SourceInfo()), whole.TypeMap(), whole.ReferenceMap())
	program, err := p.env.PlanProgram(sub,
		cel.CostTracking(cost.Estimator(p.decl)),
		cel.CostLimit(uint64(p.limit)),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return nil, fmt.Errorf("part of an expression: %w", err)
	}
	p.planned[part.ID()] = program
	return program, nil
}
