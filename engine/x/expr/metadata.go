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
	}
	return slices.ContainsFunc(ast.NavigateExpr(nil, e).Children(), func(child ast.NavigableExpr) bool { return readsMetadata(child) })
}

func isSelf(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == types.Self }

func isMetadata(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && isSelf(e.AsSelect().Operand()) && e.AsSelect().FieldName() == "metadata"
}
