package record

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// children returns the parts of a node that have values of their own. A chain of selections is a
// single part; its children are the operand at its start and its computed indexes.
func children(e ast.Expr) []ast.Expr {
	switch {
	case e.Kind() == ast.ComprehensionKind:
		if l, ok := loops.Of(e); ok {
			return []ast.Expr{l.Over, l.Body}
		}
		return []ast.Expr{e.AsComprehension().IterRange()}
	case e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly():
		return nil
	case chained(e) == nil:
		return loops.Children(e)
	}
	var indexes []ast.Expr
	for operand := chained(e); operand != nil; e, operand = operand, chained(operand) {
		if isIndex(e) && e.AsCall().Args()[1].Kind() != ast.LiteralKind {
			indexes = append([]ast.Expr{e.AsCall().Args()[1]}, indexes...)
		}
	}
	switch {
	case e.Kind() == ast.SelectKind: // has(a.b)[c]
		return nil
	case e.Kind() == ast.IdentKind:
		return indexes
	}
	return append([]ast.Expr{e}, indexes...)
}

func isIndex(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		return true
	}
	return false
}

// simple reports whether the value of e is obvious from its text: literals, negated literals, and
// lists and maps of them.
func simple(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return true
	case ast.ListKind, ast.MapKind:
		for _, part := range children(e) {
			if !simple(part) {
				return false
			}
		}
		return true
	case ast.CallKind:
		return e.AsCall().FunctionName() == operators.Negate && simple(e.AsCall().Args()[0])
	}
	return false
}

// variablesIn returns the IDs of the nodes that read a variable. All other nodes are constant.
func variablesIn(e ast.Expr) map[int64]bool {
	reads := map[int64]bool{}
	for _, variable := range ast.MatchDescendants(ast.NavigateExpr(nil, e), ast.KindMatcher(ast.IdentKind)) {
		for at, ok := variable, true; ok && !reads[at.ID()]; at, ok = at.Parent() {
			reads[at.ID()] = true
		}
	}
	return reads
}
