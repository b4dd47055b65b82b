package celexprs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// Difference returns the first difference between two parsed expressions, including IDs, positions,
// and macro calls. It returns "" if they are equal.
func Difference(got, want *ast.AST) string {
	if d := treeDifference(got, want); d != "" {
		return d
	}
	if len(got.TypeMap()) > 0 || len(got.ReferenceMap()) > 0 || got.TypeMap() == nil || got.ReferenceMap() == nil {
		return "types or references before they are checked"
	}
	if !reflect.DeepEqual(got, want) {
		return "the trees differ in state that no method returns"
	}
	return ""
}

// CheckedDifference is like Difference for checked expressions, and also compares their types and
// references.
func CheckedDifference(got, want *ast.AST) string {
	if d := treeDifference(got, want); d != "" {
		return d
	}
	for id, t := range want.TypeMap() {
		if g := got.TypeMap()[id]; g == nil || !g.IsExactType(t) || g.String() != t.String() {
			return fmt.Sprintf("type of %d: got %v, want %v", id, g, t)
		}
	}
	for id, ref := range want.ReferenceMap() {
		if g := got.ReferenceMap()[id]; g == nil || g.Name != ref.Name || !slices.Equal(g.OverloadIDs, ref.OverloadIDs) || !g.Equals(ref) {
			return fmt.Sprintf("reference of %d: got %v, want %v", id, g, ref)
		}
	}
	if len(got.TypeMap()) != len(want.TypeMap()) || len(got.ReferenceMap()) != len(want.ReferenceMap()) {
		return fmt.Sprintf("got %d types and %d references, want %d and %d", len(got.TypeMap()), len(got.ReferenceMap()), len(want.TypeMap()), len(want.ReferenceMap()))
	}
	return ""
}

func treeDifference(got, want *ast.AST) string {
	if d := exprDifference("root", got.Expr(), want.Expr()); d != "" {
		return d
	}
	g, w := got.SourceInfo(), want.SourceInfo()
	switch {
	case !maps.Equal(g.OffsetRanges(), w.OffsetRanges()):
		return fmt.Sprintf("ranges: got %v, want %v", g.OffsetRanges(), w.OffsetRanges())
	case !slices.Equal(g.LineOffsets(), w.LineOffsets()):
		return fmt.Sprintf("lines: got %v, want %v", g.LineOffsets(), w.LineOffsets())
	case g.Description() != w.Description() || g.SyntaxVersion() != w.SyntaxVersion() || extensions(g) != extensions(w):
		return "description, syntax, or extensions"
	case g.ComputeOffset(1, 0) != w.ComputeOffset(1, 0):
		return "base of lines"
	case len(g.MacroCalls()) != len(w.MacroCalls()):
		return fmt.Sprintf("macro calls: got %d, want %d", len(g.MacroCalls()), len(w.MacroCalls()))
	}
	for id, call := range w.MacroCalls() {
		if d := exprDifference(fmt.Sprintf("macro call %d", id), g.MacroCalls()[id], call); d != "" {
			return d
		}
	}
	return ""
}

// Only newer releases of cel-go have extensions.
func extensions(info *ast.SourceInfo) int {
	method := reflect.ValueOf(info).MethodByName("Extensions")
	if !method.IsValid() {
		return 0
	}
	return method.Call(nil)[0].Len()
}

func exprDifference(at string, got, want ast.Expr) string {
	if got == nil || want == nil {
		return fmt.Sprintf("%s: got %v, want %v", at, got, want)
	}
	if reflect.TypeOf(got) != reflect.TypeOf(want) {
		return fmt.Sprintf("%s: got a %T, want a %T", at, got, want)
	}
	if got.ID() != want.ID() || got.Kind() != want.Kind() {
		return fmt.Sprintf("%s: got id %d, kind %d, want id %d, kind %d", at, got.ID(), got.Kind(), want.ID(), want.Kind())
	}
	at = fmt.Sprintf("%s/%d", at, want.ID())
	switch want.Kind() {
	case ast.CallKind:
		return callDifference(at, got.AsCall(), want.AsCall())
	case ast.ComprehensionKind:
		return loopDifference(at, got.AsComprehension(), want.AsComprehension())
	case ast.IdentKind:
		return valueDifference(at+" name", got.AsIdent(), want.AsIdent())
	case ast.ListKind:
		g, w := got.AsList(), want.AsList()
		if (g.OptionalIndices() == nil) != (w.OptionalIndices() == nil) || !slices.Equal(g.OptionalIndices(), w.OptionalIndices()) {
			return fmt.Sprintf("%s: optional: got %v, want %v", at, g.OptionalIndices(), w.OptionalIndices())
		}
		for i := range int32(w.Size()) {
			if g.IsOptional(i) != w.IsOptional(i) {
				return at + ": optional"
			}
		}
		return listDifference(at, g.Elements(), w.Elements())
	case ast.LiteralKind:
		return literalDifference(at, got, want)
	case ast.MapKind:
		return entryDifference(at, got.AsMap().Entries(), want.AsMap().Entries())
	case ast.SelectKind:
		g, w := got.AsSelect(), want.AsSelect()
		if g.FieldName() != w.FieldName() || g.IsTestOnly() != w.IsTestOnly() {
			return fmt.Sprintf("%s: got field %q (%v), want %q (%v)", at, g.FieldName(), g.IsTestOnly(), w.FieldName(), w.IsTestOnly())
		}
		return exprDifference(at, g.Operand(), w.Operand())
	case ast.StructKind:
		g, w := got.AsStruct(), want.AsStruct()
		if g.TypeName() != w.TypeName() {
			return fmt.Sprintf("%s: got type %q, want %q", at, g.TypeName(), w.TypeName())
		}
		return entryDifference(at, g.Fields(), w.Fields())
	}
	return ""
}

func valueDifference[T comparable](at string, got, want T) string {
	if got != want {
		return fmt.Sprintf("%s: got %v, want %v", at, got, want)
	}
	return ""
}

// NaNs are equal.
func literalDifference(at string, got, want ast.Expr) string {
	g, w := got.AsLiteral(), want.AsLiteral()
	if reflect.TypeOf(g) != reflect.TypeOf(w) || (!reflect.DeepEqual(g, w) && !(g.Type() == celtypes.DoubleType && g != g && w != w)) {
		return fmt.Sprintf("%s: got %T %#v, want %T %#v", at, g, g, w, w)
	}
	return ""
}

func callDifference(at string, got, want ast.CallExpr) string {
	if got.FunctionName() != want.FunctionName() || got.IsMemberFunction() != want.IsMemberFunction() {
		return fmt.Sprintf("%s: got call of %q, want %q", at, got.FunctionName(), want.FunctionName())
	}
	if want.IsMemberFunction() {
		if d := exprDifference(at, got.Target(), want.Target()); d != "" {
			return d
		}
	}
	return listDifference(at, got.Args(), want.Args())
}

func listDifference(at string, got, want []ast.Expr) string {
	if len(got) != len(want) || (got == nil) != (want == nil) {
		return fmt.Sprintf("%s: got %d parts (nil %v), want %d (nil %v)", at, len(got), got == nil, len(want), want == nil)
	}
	for i := range want {
		if d := exprDifference(at, got[i], want[i]); d != "" {
			return d
		}
	}
	return ""
}

func entryDifference(at string, got, want []ast.EntryExpr) string {
	if len(got) != len(want) || (got == nil) != (want == nil) {
		return fmt.Sprintf("%s: got %d entries, want %d", at, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.ID() != w.ID() || g.Kind() != w.Kind() {
			return fmt.Sprintf("%s: entry %d: got id %d, kind %d, want id %d, kind %d", at, i, g.ID(), g.Kind(), w.ID(), w.Kind())
		}
		if w.Kind() == ast.StructFieldKind {
			gf, wf := g.AsStructField(), w.AsStructField()
			if gf.Name() != wf.Name() || gf.IsOptional() != wf.IsOptional() {
				return fmt.Sprintf("%s: field %d: got %q, want %q", at, i, gf.Name(), wf.Name())
			}
			if d := exprDifference(at, gf.Value(), wf.Value()); d != "" {
				return d
			}
			continue
		}
		ge, we := g.AsMapEntry(), w.AsMapEntry()
		if ge.IsOptional() != we.IsOptional() {
			return fmt.Sprintf("%s: entry %d: optional", at, i)
		}
		if d := exprDifference(at, ge.Key(), we.Key()); d != "" {
			return d
		}
		if d := exprDifference(at, ge.Value(), we.Value()); d != "" {
			return d
		}
	}
	return ""
}

func loopDifference(at string, got, want ast.ComprehensionExpr) string {
	if got.IterVar() != want.IterVar() || got.IterVar2() != want.IterVar2() || got.AccuVar() != want.AccuVar() {
		return at + ": variables"
	}
	g := []ast.Expr{got.IterRange(), got.AccuInit(), got.LoopCondition(), got.LoopStep(), got.Result()}
	w := []ast.Expr{want.IterRange(), want.AccuInit(), want.LoopCondition(), want.LoopStep(), want.Result()}
	return listDifference(at, g, w)
}
