package eval

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// MayPanic reports whether evaluating the expression may end with a known panic of upstream. It may report true for an
// expression that never panics. Such a panic is an error that no ||, &&, or macro absorbs, so it matters to code that
// reasons about an expression without evaluating it.
func MayPanic(checked *ast.AST) (may bool) {
	mayBeUnhashable := makesUnhashable(checked)
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			may = may || callMayPanic(checked, e, mayBeUnhashable)
		case ast.MapKind:
			may = may || mayBeUnhashable && slices.ContainsFunc(e.AsMap().Entries(), func(e ast.EntryExpr) bool {
				return !hashable(checked.GetType(e.AsMapEntry().Key().ID()))
			})
		case ast.StructKind:
			may = true
		}
	}))
	return may
}

func callMayPanic(checked *ast.AST, e ast.Expr, mayBeUnhashable bool) bool {
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.In, operators.OldIn:
		args := call.Args()
		sought := args[1].Kind() == ast.ListKind || checked.GetType(args[1].ID()).Kind() != celtypes.ListKind
		return mayBeUnhashable && sought && !hashable(checked.GetType(args[0].ID()))
	case "format", "cel.@mapInsert":
		return mayBeUnhashable
	}
	ref := checked.ReferenceMap()[e.ID()]
	return ref != nil && slices.ContainsFunc(ref.OverloadIDs, func(overload string) bool {
		switch overload {
		case "list_distinct":
			return true
		case "list_flatten_int":
			return call.Args()[0].Kind() != ast.LiteralKind
		}
		return isSort(overload) || isSortBy(overload)
	})
}

func makesUnhashable(checked *ast.AST) (makes bool) {
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			makes = makes || e.AsCall().FunctionName() == "dyn"
		case ast.ListKind, ast.MapKind:
			makes = makes || slices.ContainsFunc(checked.GetType(e.ID()).Parameters(), func(t *celtypes.Type) bool { return t.Kind() == celtypes.DynKind })
		}
		t := checked.GetType(e.ID())
		makes = makes || t.Kind() == celtypes.BytesKind || t.TypeName() == "kubernetes.Semver"
	}))
	return makes
}

func hashable(t *celtypes.Type) bool {
	switch t.Kind() {
	case celtypes.BoolKind, celtypes.IntKind, celtypes.UintKind, celtypes.DoubleKind, celtypes.StringKind,
		celtypes.NullTypeKind, celtypes.DurationKind, celtypes.TimestampKind, celtypes.TypeKind:
		return true
	}
	return false
}
