package celenv

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// joinedLiterals replaces the validator that rejects list and map literals of mixed types. The
// checker of older versions joins the types of the elements instead: dyn accepts any other type, and
// the arguments of format are not exempt.
type joinedLiterals struct{}

func (joinedLiterals) Name() string { return literalsValidator }

func (joinedLiterals) Validate(_ *cel.Env, _ cel.ValidatorConfig, checked *ast.AST, issues *cel.Issues) {
	join := func(joined *celtypes.Type, e ast.Expr) *celtypes.Type {
		t := checked.GetType(e.ID())
		switch {
		case joined == nil:
			return t
		case !joins(joined, t):
			issues.ReportErrorAtID(e.ID(), "expected type '%s' but found '%s'", checker.FormatCELType(joined), checker.FormatCELType(t))
			return nil
		case isDyn(joined):
			return joined
		}
		return t
	}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ListKind:
			var items *celtypes.Type
			for i, item := range e.AsList().Elements() {
				if !e.AsList().IsOptional(int32(i)) {
					items = join(items, item)
				}
			}
		case ast.MapKind:
			var keys, values *celtypes.Type
			for _, entry := range e.AsMap().Entries() {
				keys = join(keys, entry.AsMapEntry().Key())
				if !entry.AsMapEntry().IsOptional() {
					values = join(values, entry.AsMapEntry().Value())
				}
			}
		}
	}))
}

func isDyn(t *celtypes.Type) bool {
	return t.Kind() == celtypes.DynKind || t.Kind() == celtypes.AnyKind
}

func joins(a, b *celtypes.Type) bool {
	if isDyn(a) || isDyn(b) || a.IsExactType(b) {
		return true
	}
	if a.Kind() != b.Kind() || a.TypeName() != b.TypeName() || len(a.Parameters()) != len(b.Parameters()) || len(a.Parameters()) == 0 {
		return false
	}
	for i, p := range a.Parameters() {
		if !joins(p, b.Parameters()[i]) {
			return false
		}
	}
	return true
}
