package vet

import (
	"errors"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/check"
	"github.com/celadon-cel/celadon/types"
)

type compiled struct {
	// detail is the server's error for a rejected expression, or the reason why the server panics; "" if accepted.
	detail   string
	rejected bool
	panics   bool
	usesOld  bool
	cost     cost.Estimate
	ast      *cel.Ast
	env      *cel.Env
	key      expr.Key
	base     *celenv.Env // that env extends
	since    int         // the result of lowestMinor if it is known
}

func (x *compiled) accepted() bool { return x != nil && !x.rejected }

func (x *compiled) estimate() uint64 {
	if !x.accepted() {
		return 0
	}
	return x.cost.Max
}

// A compiler compiles new expressions with the environment of the version, and stored expressions with everything
// that the version can run.
type compiler struct {
	decls        *types.Interner
	news, stored *expr.KeyedCompiler[*compiled]
}

func newCompiler(v types.Version) *compiler {
	c := &compiler{decls: types.NewInterner()}
	c.decls.Version = v
	c.news = expr.NewKeyedCompiler(expr.KeyedConfig[*compiled]{Env: celenv.NewRules(v), Finish: finish})
	c.stored = expr.NewKeyedCompiler(expr.KeyedConfig[*compiled]{Env: celenv.StoredRules(v), Finish: finish})
	return c
}

// If stored is set, the old CRD has the expression.
func (c *compiler) expr(key expr.Key, stored bool) (*compiled, error) {
	of := c.news
	if stored {
		of = c.stored
	}
	x, rejected, err := of.Compile(key)
	if err != nil {
		return nil, err
	}
	if rejected != nil {
		x = &compiled{key: key}
		if rejected.Checked != nil {
			x.ast, x.env = rejected.Checked.AST, rejected.Checked.Env
		}
		x.reject(rejected)
	}
	x.base = of.Env
	return x, nil
}

// finish plans only expressions that the server's planner may reject.
func finish(checked *expr.Checked) (x *compiled, err error) {
	x = &compiled{key: checked.Key, ast: checked.AST, env: checked.Env, usesOld: checked.UsesOldSelf()}
	if planCanFail(checked.AST) && !celenv.LargePattern(checked.AST) {
		if err := plan(checked.Env, checked.AST); err == errPanics {
			x.rejected, x.panics, x.detail = true, true, "CEL's libraries panic when they plan it"
			return x, nil
		} else if err != nil {
			x.reject(checked.Unplannable(eval.PlanError(err, checked.Version.Minor)))
			return x, nil
		}
	}
	if x.cost, err = checked.Cost(); err != nil {
		x.reject(checked.Unpriced(err))
	}
	return x, nil
}

func (x *compiled) reject(why *expr.Rejection) {
	x.rejected, x.detail = true, why.Detail
	var panicked *celenv.PanicError
	if errors.As(why.Err, &panicked) {
		x.panics, x.detail = true, panicked.Error()
	}
}

func plan(env *cel.Env, checked *cel.Ast) (err error) {
	defer func() {
		if recover() != nil { // only upstream's function can panic here
			err = errPanics
		}
	}()
	_, err = env.Program(checked, cel.CostLimit(celconfig.PerCallLimit), cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	return err
}

// planCanFail reports whether planning depends on the value of a constant: the planner converts constants, compiles
// them as regular expressions, builds maps of them, and uses them as an index. Any other expression that checks can
// be planned.
func planCanFail(checked *cel.Ast) bool {
	a := checked.NativeRep()
	return anyPart(a.Expr(), func(e ast.Expr) bool {
		switch e.Kind() {
		case ast.CallKind:
			return callPlanCanFail(a, e.AsCall())
		case ast.ListKind:
			return len(e.AsList().OptionalIndices()) > 0
		case ast.MapKind:
			return mapPlanCanFail(a, e.AsMap())
		}
		return e.Kind() == ast.StructKind
	})
}

// Constant bytes are keys that cannot be hashed.
func mapPlanCanFail(a *ast.AST, m ast.MapExpr) bool {
	return slices.ContainsFunc(m.Entries(), func(e ast.EntryExpr) bool {
		kind := a.GetType(e.AsMapEntry().Key().ID()).Kind()
		return kind == celtypes.BytesKind || kind == celtypes.DynKind
	})
}

// keyKinds are the kinds of constants that can be an index.
var keyKinds = []celtypes.Kind{celtypes.StringKind, celtypes.IntKind, celtypes.UintKind, celtypes.BoolKind, celtypes.DoubleKind}

func callPlanCanFail(a *ast.AST, call ast.CallExpr) bool {
	args := call.Args()
	switch name := call.FunctionName(); name {
	case overloads.Matches, "find", "findAll":
		pattern := args[len(args)-1]
		if name != overloads.Matches && call.IsMemberFunction() {
			pattern = args[0] // findAll may have a limit as its last argument
		}
		if pattern.Kind() == ast.LiteralKind {
			return !check.Takes(overloads.Matches, pattern)
		}
		return mayBeConstant(a, pattern)
	case operators.Index, operators.OptIndex:
		// The type of an empty map's key is not known, so the checker accepts constants of any type there.
		return !slices.Contains(keyKinds, a.GetType(args[1].ID()).Kind()) && mayBeConstant(a, args[1])
	default:
		return overloads.IsTypeConversionFunction(name) && len(args) == 1 && mayBeConstant(a, args[0]) && !check.Takes(name, args[0])
	}
}

func mayBeConstant(a *ast.AST, e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return false
	case ast.IdentKind:
		return a.GetType(e.ID()).Kind() == celtypes.TypeKind
	}
	return true
}
