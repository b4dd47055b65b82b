package vet

import (
	"errors"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/regex"
	"github.com/celadon-cel/celadon/types"
)

// compiled is one expression at one declaration.
type compiled struct {
	// detail is the server's text for an expression that it refuses, less
	// what names the part of the rule; "" when accepted.
	detail  string
	refused bool
	// panics is true when the server's planner panics over it.
	panics  bool
	usesOld bool
	cost    cost.Estimate
	ast     *cel.Ast
	env     *cel.Env
	key     exprKey
	base    *types.Env // of env
}

// part says what an expression is for, in the API server's words.
type part struct {
	want                              *cel.Type
	compilation, wrongType, plan, fee string
}

var (
	rulePart = &part{
		want:        cel.BoolType,
		compilation: "compilation failed: ",
		wrongType:   "cel expression must evaluate to a bool",
		plan:        "program instantiation failed: ",
		fee:         "cost estimation failed: ",
	}
	messagePart = &part{
		want:        cel.StringType,
		compilation: "messageExpression compilation failed: ",
		wrongType:   "messageExpression must evaluate to a string",
		plan:        "messageExpression instantiation failed: ",
		fee:         "cost estimation failed for messageExpression: ",
	}
)

// compiler compiles expressions, equal ones over equal declarations once.
type compiler struct {
	version      types.Version
	news, stored *types.Env
	decls        *types.Interner
	scopes       map[bool]*types.Scope // by whether they are of stored expressions
	exprs        map[exprKey]*compiled
}

type exprKey struct {
	decl     *types.Decl
	part     *part
	optional bool
	stored   bool
	src      string
}

func newCompiler(v types.Version) *compiler {
	return &compiler{
		version: v,
		news:    types.NewRulesEnv(v),
		stored:  types.StoredEnv(v),
		decls:   types.NewInterner(),
		scopes:  map[bool]*types.Scope{},
		exprs:   map[exprKey]*compiled{},
	}
}

func (c *compiler) envOf(stored bool) *types.Env {
	if stored {
		return c.stored
	}
	return c.news
}

// expr compiles an expression of a rule; a stored one may use all that the
// version runs.
func (c *compiler) expr(key exprKey) (*compiled, error) {
	if x := c.exprs[key]; x != nil {
		return x, nil
	}
	scope, err := c.scope(key.stored)
	if err != nil {
		return nil, err
	}
	x, err := c.compile(scope, key)
	if err == nil {
		c.exprs[key] = x
	}
	return x, err
}

func (c *compiler) scope(stored bool) (*types.Scope, error) {
	if s := c.scopes[stored]; s != nil {
		return s, nil
	}
	s, err := c.envOf(stored).Scope()
	if err == nil {
		c.scopes[stored] = s
	}
	return s, err
}

func (c *compiler) compile(scope *types.Scope, key exprKey) (*compiled, error) {
	p, x := key.part, &compiled{key: key, base: c.envOf(key.stored)}
	checked, err := scope.Compile(key.decl, key.optional, key.src)
	var issues *types.IssuesError
	switch {
	case errors.As(err, &issues):
		return x.refuse(p.compilation + issues.Error()), nil
	case err != nil:
		return nil, err
	}
	if text := c.version.NotYet(checked); text != "" && !key.stored {
		return x.refuse(p.compilation + text), nil
	}
	env := scope.Env()
	x.ast, x.env = checked, env
	if checked.OutputType() != p.want {
		return x.refuse(p.wrongType), nil
	}
	for _, ref := range checked.NativeRep().ReferenceMap() {
		x.usesOld = x.usesOld || ref.Name == types.OldSelf
	}
	if planCanFail(checked) && !types.LargePattern(checked) {
		if err := plan(env, checked); err != nil {
			x.panics = err == errPanics
			return x.refuse(p.plan + err.Error()), nil
		}
	}
	if x.cost, err = cost.Of(env, checked, key.decl); err != nil {
		return x.refuse(p.fee + err.Error()), nil
	}
	return x, nil
}

func (x *compiled) refuse(detail string) *compiled {
	x.refused, x.detail = true, detail
	return x
}

// plan plans as the server does; errPanics is for what panics there.
func plan(env *cel.Env, checked *cel.Ast) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanics
		}
	}()
	_, err = env.Program(checked, cel.CostLimit(celconfig.PerCallLimit), cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	return err
}

// planCanFail is true when planning looks into a constant: it converts them,
// compiles them as regular expressions, and builds maps of them. What else
// checks can be planned.
func planCanFail(checked *cel.Ast) bool {
	found := false
	a := checked.NativeRep()
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			found = found || callPlanCanFail(a, e.AsCall())
		case ast.ListKind:
			found = found || len(e.AsList().OptionalIndices()) > 0
		case ast.MapKind:
			found = found || mapPlanCanFail(a, e.AsMap())
		case ast.StructKind:
			found = true
		}
	}))
	return found
}

// mapPlanCanFail is true for keys that cannot be hashed: constant bytes.
func mapPlanCanFail(a *ast.AST, m ast.MapExpr) bool {
	return slices.ContainsFunc(m.Entries(), func(e ast.EntryExpr) bool {
		kind := a.GetType(e.AsMapEntry().Key().ID()).Kind()
		return kind == celtypes.BytesKind || kind == celtypes.DynKind
	})
}

func callPlanCanFail(a *ast.AST, call ast.CallExpr) bool {
	args := call.Args()
	switch name := call.FunctionName(); name {
	case overloads.Matches, "find", "findAll":
		pattern := args[len(args)-1]
		if name != overloads.Matches && call.IsMemberFunction() {
			pattern = args[0] // findAll may have a limit behind it
		}
		if pattern.Kind() == ast.LiteralKind {
			text, ok := pattern.AsLiteral().Value().(string)
			return !ok || !compiles(text)
		}
		return mayBeConstant(a, pattern)
	default:
		return overloads.IsTypeConversionFunction(name) && len(args) == 1 && mayBeConstant(a, args[0])
	}
}

func compiles(pattern string) bool {
	_, err := regex.New(pattern)
	return err == nil
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
