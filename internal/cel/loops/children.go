package loops

import (
	"slices"

	"github.com/google/cel-go/common/ast"
)

// Children returns the children of a node. For a macro, these are the parts of its expansion other than its condition.
func Children(e ast.Expr) []ast.Expr {
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

// Terms returns the operands of a chain of && or ||, or only e if e is not such a chain.
func Terms(e ast.Expr, operator string) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operator {
		return []ast.Expr{e}
	}
	args := e.AsCall().Args()
	return append(Terms(args[0], operator), Terms(args[1], operator)...)
}

// Inside reports whether e is or contains a macro.
func Inside(e ast.Expr) bool {
	return e.Kind() == ast.ComprehensionKind || slices.ContainsFunc(Children(e), Inside)
}
