package prove

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// term returns a name that only expressions with equal values share. Variables are replaced by their
// values.
func (x *reading) term(e ast.Expr) string {
	var b strings.Builder
	k := keyWriter{reading: x, out: &b}
	k.expr(e)
	if x.formula.tooLarge { // the text is incomplete
		fmt.Fprintf(&b, " and more %d", len(x.formula.terms))
	}
	return x.formula.term(b.String())
}

// keyWriter writes the name of an expression. It numbers the variables of macros by depth, so their
// names do not matter.
type keyWriter struct {
	*reading
	out    *strings.Builder
	hidden []string
}

func (k *keyWriter) expr(e ast.Expr) {
	if k.formula.spend(1) {
		return
	}
	if p := k.place(e); p != nil {
		k.out.WriteString("{" + p.key + "}")
		return
	}
	switch e.Kind() {
	case ast.LiteralKind:
		name := literalTerm(e.AsLiteral())
		k.formula.spend(len(name) / 64)
		k.out.WriteString(name)
	case ast.IdentKind:
		k.ident(e.AsIdent())
	case ast.ComprehensionKind:
		k.loop(e.AsComprehension())
	default:
		label := labelOf(e)
		k.formula.spend(len(label) / 64)
		k.out.WriteString(label + "(")
		for _, child := range loops.Children(e) {
			k.expr(child)
			k.out.WriteString(", ")
		}
		k.out.WriteString(")")
	}
}

// labelOf returns a text that differs for expressions that differ in more than their children.
func labelOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.SelectKind:
		return fmt.Sprintf("select %v %q", e.AsSelect().IsTestOnly(), e.AsSelect().FieldName())
	case ast.CallKind:
		return fmt.Sprintf("%s %v", e.AsCall().FunctionName(), e.AsCall().IsMemberFunction())
	case ast.ListKind:
		return fmt.Sprintf("list %v", e.AsList().OptionalIndices())
	case ast.MapKind:
		label := "map"
		for _, entry := range e.AsMap().Entries() {
			label += fmt.Sprintf(" %v", entry.AsMapEntry().IsOptional())
		}
		return label
	}
	label := fmt.Sprintf("struct %q", e.AsStruct().TypeName())
	for _, entry := range e.AsStruct().Fields() {
		label += fmt.Sprintf(" %q %v", entry.AsStructField().Name(), entry.AsStructField().IsOptional())
	}
	return label
}

func literalTerm(v ref.Val) string {
	return fmt.Sprintf("%s %q", v.Type().TypeName(), fmt.Sprint(v.Value()))
}

// place returns the only value in the object that e can have, or nil. Two versions can have the
// same value at different paths.
func (k *keyWriter) place(e ast.Expr) *place {
	switch e.Kind() {
	case ast.IdentKind:
		alts := k.vars[e.AsIdent()].alts
		if len(alts) == 1 && alts[0].place != nil && !alts[0].size && alts[0].plus == 0 && alts[0].when == k.formula.yes && !slices.Contains(k.hidden, e.AsIdent()) {
			return alts[0].place
		}
	case ast.SelectKind:
		s := e.AsSelect()
		if s.IsTestOnly() {
			return nil
		}
		if p := k.place(s.Operand()); p != nil {
			return p.selected(s.FieldName())
		}
	}
	return nil
}

func (k *keyWriter) ident(name string) {
	for i := len(k.hidden) - 1; i >= 0; i-- {
		if k.hidden[i] == name {
			fmt.Fprintf(k.out, "$%d", i)
			return
		}
	}
	if v, ok := k.vars[name]; ok {
		k.out.WriteString("{" + v.key + "}")
		return
	}
	k.out.WriteString("ident " + strconv.Quote(name))
}

func (k *keyWriter) loop(c ast.ComprehensionExpr) {
	k.out.WriteString("loop(")
	k.expr(c.IterRange())
	k.out.WriteString(", ")
	k.expr(c.AccuInit())
	depth := len(k.hidden)
	k.hidden = append(k.hidden, c.IterVar(), c.IterVar2(), c.AccuVar())
	for _, e := range []ast.Expr{c.LoopCondition(), c.LoopStep()} {
		k.out.WriteString(", ")
		k.expr(e)
	}
	k.hidden = append(k.hidden[:depth], "", "", c.AccuVar())
	k.out.WriteString(", ")
	k.expr(c.Result())
	k.out.WriteString(")")
	k.hidden = k.hidden[:depth]
}
