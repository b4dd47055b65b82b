package assist

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// childrenOf returns the children of a node in the order of the text.
func childrenOf(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
		return parts
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopStep(), c.Result()}
	}
	return nil
}

// pathTo returns the path from e to the first node that matches in depth-first order, or nil.
func pathTo(e ast.Expr, match func(ast.Expr) bool) []ast.Expr {
	var path []ast.Expr
	var find func(e ast.Expr) bool
	find = func(e ast.Expr) bool {
		path = append(path, e)
		if match(e) {
			return true
		}
		for _, part := range childrenOf(e) {
			if find(part) {
				return true
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if !find(e) {
		return nil
	}
	return path
}

var factory = ast.NewExprFactory()

// folded returns a comprehension that collects the values of each in a list, with the variables of
// loop in scope.
func folded(loop ast.ComprehensionExpr, each ast.Expr) ast.Expr {
	step := factory.NewCall(0, operators.Add, factory.NewAccuIdent(0), factory.NewList(0, []ast.Expr{each}, nil))
	return factory.NewComprehensionTwoVar(0, loop.IterRange(), loop.IterVar(), loop.IterVar2(), factory.AccuIdentName(),
		factory.NewList(0, nil, nil), factory.NewLiteral(0, celtypes.True), step, factory.NewAccuIdent(0))
}

// bound returns the expression result with the variable of a macro such as optMap in scope.
func bound(by ast.ComprehensionExpr, result ast.Expr) ast.Expr {
	return factory.NewComprehension(0, by.IterRange(), by.IterVar(), by.AccuVar(), by.AccuInit(), by.LoopCondition(), by.LoopStep(), result)
}
