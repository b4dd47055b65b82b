package vet

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// The body of the macro must be a condition.
func macroOf(e ast.Expr) (m loops.Loop, ok bool) {
	m, ok = loops.Of(e)
	return m, ok && m.Name != "" && m.Name != loops.Map
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

func mentions(e ast.Expr, variables ...string) bool {
	return anyPart(e, func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && slices.Contains(variables, e.AsIdent()) })
}

func anyPart(e ast.Expr, is func(ast.Expr) bool) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { found = found || is(e) }))
	return found
}

// operation returns the function and the arguments of an operator or another call without a receiver, and "" for any
// other expression.
func operation(e ast.Expr) (op string, args []ast.Expr) {
	if e == nil || e.Kind() != ast.CallKind || e.AsCall().IsMemberFunction() {
		return "", nil
	}
	return e.AsCall().FunctionName(), e.AsCall().Args()
}

func sizeOperand(e ast.Expr) ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "size" {
		return nil
	}
	if call := e.AsCall(); call.IsMemberFunction() {
		return call.Target()
	} else if len(call.Args()) == 1 {
		return call.Args()[0]
	}
	return nil
}

// The range is in code points.
type edit struct {
	from, to int
	text     string
}

// fixed returns "" if the rule with the edits does not compile in the oldest version. Edits that overlap an earlier
// edit are left out.
func (in *inspection) fixed(edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	rule, out, last := []rune(in.spec.Rule), []rune(nil), 0
	for _, e := range edits {
		if e.from >= last {
			out = append(append(out, rule[last:e.from]...), []rune(e.text)...)
			last = e.to
		}
	}
	fix := string(append(out, rule[last:]...))
	if _, _, err := celenv.NewRules(in.lowest).Compile(in.expr.key.Decl, in.expr.key.Optional, fix); err != nil {
		return ""
	}
	return fix
}

// ok is false if a macro generated the part.
func (in *inspection) replaced(e ast.Expr, text string) (edit, bool) {
	from, to, ok := in.source().Range(e)
	return edit{from, to, text}, ok
}

// The part is an operand of && or ||, and other is the other operand.
func (in *inspection) without(call, other ast.Expr) (edit, bool) {
	text, ok := in.text(other)
	if !ok {
		return edit{}, false
	}
	return in.replaced(call, text)
}

// text keeps line breaks. ok is false if a macro generated the part.
func (in *inspection) text(e ast.Expr) (string, bool) {
	from, to, ok := in.source().Range(e)
	if !ok {
		return "", false
	}
	return string([]rune(in.spec.Rule)[from:to]), true
}

func (in *inspection) parenthesized(e ast.Expr, text string) string {
	if e.ID() == in.expr.ast.NativeRep().Expr().ID() {
		return text
	}
	return "(" + text + ")"
}
