package policyvet

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// The names of roots that the analysis knows.
const (
	objectName    = "object"
	oldObjectName = "oldObject"
	requestName   = "request"
	variablesName = "variables"
)

func visit(e ast.Expr, f func(ast.Expr)) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(f))
}

// field returns the operand and the name of a field selection: x.f, x.?f, x['f'], or has(x.f). test is
// set if the field may be missing.
func field(e ast.Expr) (of ast.Expr, name string, test, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.Operand(), s.FieldName(), s.IsTestOnly(), true
	case ast.CallKind:
		call := e.AsCall()
		if f := call.FunctionName(); len(call.Args()) == 2 && (f == operators.Index || f == operators.OptSelect || f == operators.OptIndex) {
			if name, ok := text(call.Args()[1]); ok {
				return call.Args()[0], name, f != operators.Index, true
			}
		}
	}
	return nil, "", false, false
}

// text returns the value of a string literal.
func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(celtypes.String)
	return string(s), ok
}

func isRoot(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// usedVariables returns the variables that an expression selects, for expression.uses.
func usedVariables(tree ast.Expr) map[string]bool {
	names, whole := map[string]bool{}, 0
	visit(tree, func(e ast.Expr) {
		if isRoot(e, variablesName) {
			whole++
		}
		if of, name, _, ok := field(e); ok && isRoot(of, variablesName) {
			names[name] = true
			whole--
		}
	})
	if whole > 0 {
		names[""] = true
	}
	return names
}

// isOptional reports whether the value of e is an optional, because it is an optional selection or a
// field of one.
func isOptional(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return isOptional(e.AsSelect().Operand())
	case ast.CallKind:
		f := e.AsCall().FunctionName()
		return f == operators.OptSelect || f == operators.OptIndex || f == operators.Index && isOptional(e.AsCall().Args()[0])
	}
	return false
}

// isBind reports whether a comprehension evaluates its result once with a variable, as cel.bind does.
func isBind(loop ast.ComprehensionExpr) bool {
	over := loop.IterRange()
	return over.Kind() == ast.ListKind && over.AsList().Size() == 0
}
