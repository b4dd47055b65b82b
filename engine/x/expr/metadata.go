package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/types"
)

// readsMetadata reports whether an expression at the root of an object may depend on fields of metadata
// that its type does not have: it uses self or self.metadata as a whole, as in dyn(self.metadata).
func readsMetadata(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent() == types.Self
	case ast.SelectKind:
		from := e.AsSelect().Operand()
		if isSelf(from) {
			return e.AsSelect().FieldName() == "metadata"
		}
		return !isMetadata(from) && readsMetadata(from)
	case ast.CallKind:
		call := e.AsCall()
		return call.IsMemberFunction() && readsMetadata(call.Target()) || slices.ContainsFunc(call.Args(), readsMetadata)
	case ast.ListKind:
		return slices.ContainsFunc(e.AsList().Elements(), readsMetadata)
	case ast.MapKind:
		return slices.ContainsFunc(e.AsMap().Entries(), func(entry ast.EntryExpr) bool {
			return readsMetadata(entry.AsMapEntry().Key()) || readsMetadata(entry.AsMapEntry().Value())
		})
	case ast.ComprehensionKind:
		loop := e.AsComprehension()
		return slices.ContainsFunc([]ast.Expr{loop.IterRange(), loop.AccuInit(), loop.LoopCondition(), loop.LoopStep(), loop.Result()}, readsMetadata)
	}
	return false
}

func isSelf(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == types.Self }

func isMetadata(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && isSelf(e.AsSelect().Operand()) && e.AsSelect().FieldName() == "metadata"
}
