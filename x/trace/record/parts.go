package record

import (
	"context"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a part is planned by the planner of whole expressions. What is
// a macro's variable in the whole is a root of the part, as self is.

// Parts gives the value of any part of an expression, each on its own: where an
// object is being made that fits, one part after the other is asked what it
// would be. It is not safe for concurrent use.
type Parts struct {
	planner *eval.Planner
	checked *cel.Ast
	decl    *types.Decl
	limit   int64
	rule    []types.Root // of the whole
	planned map[int64]*part
}

// part is one that was asked before.
type part struct {
	program *eval.Program
	roots   []types.Root
	err     error
}

// NewParts is for an expression that the desk compiled with the same
// optionalOldSelf. The error is an *eval.OverworkError where a constant is a
// pattern too large to be made once more.
func NewParts(d *expr.Compiler, x *expr.Expr, optionalOldSelf bool) (*Parts, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	if types.LargePattern(x.AST()) {
		return nil, &eval.OverworkError{Why: "a pattern has too many states to be made once more"}
	}
	return &Parts{
		planner: eval.NewPlanner(env), checked: x.AST(), decl: d.Decl(), limit: d.Limit(),
		rule: types.RuleRoots(d.Decl(), optionalOldSelf), planned: map[int64]*part{},
	}, nil
}

// Root is the whole expression.
func (p *Parts) Root() ast.Expr { return p.checked.NativeRep().Expr() }

// Type is what the checker knows of a part's type.
func (p *Parts) Type(part ast.Expr) *celtypes.Type { return p.checked.NativeRep().GetType(part.ID()) }

// Value evaluates a part where self and oldSelf are these; old is nil when there
// is none. variable is what a variable of a macro around the part stands for;
// nil is nothing. What has no value is a CEL error, and so is what takes more
// work than is done for a part.
func (p *Parts) Value(ctx context.Context, e ast.Expr, self, old any, variable func(name string) ref.Val) (v ref.Val) {
	defer func() {
		if r := recover(); r != nil {
			v = celtypes.NewErr("internal error: %v", r)
		}
	}()
	at := p.part(e)
	if at.err != nil {
		return celtypes.WrapErr(at.err)
	}
	values := map[string]any{types.Self: self}
	if old != nil {
		values[types.OldSelf] = old
	}
	for _, root := range at.roots[len(p.rule):] {
		if v := variable(root.Name); v != nil {
			values[root.Name] = v
		}
	}
	vars := eval.BindRoots(at.roots, values)
	vars.LimitWork(maxWork)
	out := at.program.Eval(ctx, vars)
	if out.Err != nil {
		return celtypes.WrapErr(out.Err)
	}
	return out.Value
}

func (p *Parts) part(e ast.Expr) *part {
	if known := p.planned[e.ID()]; known != nil {
		return known
	}
	at := &part{roots: p.free(e)}
	at.program, at.err = p.planner.PlanPart(p.checked, e, at.roots, p.limit)
	p.planned[e.ID()] = at
	return at
}

// free are the roots of the whole and the variables that a part may take from
// the macros around it.
func (p *Parts) free(e ast.Expr) []types.Root {
	roots := slices.Clone(p.rule)
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		name := e.AsIdent()
		if ref := p.checked.NativeRep().ReferenceMap()[e.ID()]; ref != nil && ref.Value != nil {
			return // a constant
		}
		if !slices.ContainsFunc(roots, func(r types.Root) bool { return r.Name == name }) {
			roots = append(roots, types.Root{Name: name, Type: p.Type(e)})
		}
	}))
	return roots
}
