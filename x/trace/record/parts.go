package record

import (
	"context"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// How it works. A part is planned like a whole expression, except that the variables of the
// enclosing macros become root variables of the part, like self.

// Parts evaluates single parts of an expression. A search that constructs an object uses it to
// compute which value each part would have. It is not safe for concurrent use.
type Parts struct {
	planner *eval.Planner
	checked *cel.Ast
	decl    *types.Decl
	limit   int64
	rule    []celenv.Root
	planned map[int64]*part
}

type part struct {
	program *eval.Program
	roots   []celenv.Root
	err     error
}

// NewParts returns the parts of an expression that d compiled with the same optionalOldSelf. The
// error is an *eval.OverworkError if a constant pattern is too large to compile again.
func NewParts(d *expr.Compiler, x *expr.Expr, optionalOldSelf bool) (*Parts, error) {
	env, err := d.Env(optionalOldSelf)
	if err != nil {
		return nil, err
	}
	if celenv.LargePattern(x.AST()) {
		return nil, &eval.OverworkError{Why: "a pattern has too many states to be compiled again"}
	}
	return &Parts{
		planner: eval.NewPlanner(env), checked: x.AST(), decl: d.Decl(), limit: d.Limit(),
		rule: celenv.RuleRoots(d.Decl(), optionalOldSelf), planned: map[int64]*part{},
	}, nil
}

// Root returns the whole expression.
func (p *Parts) Root() ast.Expr { return p.checked.NativeRep().Expr() }

// Type returns the type that the checker computed for a part.
func (p *Parts) Type(part ast.Expr) *celtypes.Type { return p.checked.NativeRep().GetType(part.ID()) }

// Value evaluates a part for self and old; old is nil if no old value exists. variable returns
// the value of a variable of an enclosing macro, or nil if it has no value. Failures are returned
// as a CEL error, and so is a part that takes too much work.
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

// free returns the root variables of the whole expression and the other variables that a part reads, also within its
// own macros.
func (p *Parts) free(e ast.Expr) []celenv.Root {
	roots := slices.Clone(p.rule)
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		name := e.AsIdent()
		if ref := p.checked.NativeRep().ReferenceMap()[e.ID()]; ref != nil && ref.Value != nil {
			return // a constant
		}
		if !slices.ContainsFunc(roots, func(r celenv.Root) bool { return r.Name == name }) {
			roots = append(roots, celenv.Root{Name: name, Type: p.Type(e)})
		}
	}))
	return roots
}
