package assist

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// pathTo returns the path from e to the first node that matches in depth-first order, or nil.
func pathTo(e ast.Expr, match func(ast.Expr) bool) []ast.Expr {
	var path []ast.Expr
	var find func(e ast.Expr) bool
	find = func(e ast.Expr) bool {
		path = append(path, e)
		if match(e) {
			return true
		}
		for _, part := range loops.Children(e) {
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
