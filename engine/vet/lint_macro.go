package vet

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// A macro is a comprehension in the form in which its author wrote it.
type macro struct {
	name     string // all, exists, exists_one, or filter
	over     ast.Expr
	variable string
	index    string // the first of two variables, or ""
	body     ast.Expr
}

// macroOf returns the macro that expanded to e. ok is false for other macros and expressions.
func macroOf(e ast.Expr) (m macro, ok bool) {
	if e.Kind() != ast.ComprehensionKind {
		return m, false
	}
	c := e.AsComprehension()
	m = macro{over: c.IterRange(), variable: c.IterVar()}
	if c.HasIterVar2() {
		m.index, m.variable = c.IterVar(), c.IterVar2()
	}
	step := c.LoopStep()
	if step.Kind() != ast.CallKind || len(step.AsCall().Args()) < 2 {
		return m, false
	}
	args := step.AsCall().Args()
	m.body = args[1]
	switch step.AsCall().FunctionName() {
	case operators.LogicalAnd:
		m.name = "all"
	case operators.LogicalOr:
		m.name = "exists"
	case operators.Conditional:
		m.body = args[0]
		switch init := c.AccuInit(); {
		case init.Kind() == ast.ListKind && args[1].Kind() == ast.CallKind && sameList(args[1].AsCall(), m.variable):
			m.name = "filter"
		case init.Kind() == ast.LiteralKind && init.AsLiteral().Type() == celtypes.IntType:
			m.name = "exists_one"
		}
	}
	return m, m.name != ""
}

// sameList reports whether a call appends the element itself, as in filter, and not another value,
// as in map with three arguments.
func sameList(call ast.CallExpr, variable string) bool {
	args := call.Args()
	if call.FunctionName() != operators.Add || len(args) != 2 || args[1].Kind() != ast.ListKind {
		return false
	}
	items := args[1].AsList().Elements()
	return len(items) == 1 && isIdent(items[0], variable)
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// mentions reports whether an expression contains one of the variables.
func mentions(e ast.Expr, variables ...string) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && slices.Contains(variables, e.AsIdent())
	}))
	return found
}

// operation returns the operator and operands of a call with one or two operands, or "".
func operation(e ast.Expr) (op string, args []ast.Expr) {
	if e.Kind() != ast.CallKind || e.AsCall().IsMemberFunction() {
		return "", nil
	}
	return e.AsCall().FunctionName(), e.AsCall().Args()
}

// sizeOperand returns the operand of size(), or nil for another expression.
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

// chain returns the operands of nested calls of the same operator, && or ||.
func chain(e ast.Expr, op string) []ast.Expr { return appendChain(nil, e, op) }

func appendChain(list []ast.Expr, e ast.Expr, op string) []ast.Expr {
	if name, args := operation(e); name == op {
		return appendChain(appendChain(list, args[0], op), args[1], op)
	}
	return append(list, e)
}

// An edit replaces a range of a rule, in code points.
type edit struct {
	from, to int
	text     string
}

// fixed returns the rule with edits, or "" if it does not compile in the oldest version. Edits that
// overlap an earlier edit are left out.
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

// replaced returns an edit that replaces a part of the rule. ok is false if a macro generated the
// part.
func (in *inspection) replaced(e ast.Expr, text string) (edit, bool) {
	from, to, ok := in.source().Range(e)
	return edit{from, to, text}, ok
}

// without returns an edit that removes an operand of && or ||, given the call and the other operand.
func (in *inspection) without(call, other ast.Expr) (edit, bool) {
	text, ok := in.text(other)
	if !ok {
		return edit{}, false
	}
	return in.replaced(call, text)
}

// text returns the source of a part with its line breaks. ok is false if a macro generated it.
func (in *inspection) text(e ast.Expr) (string, bool) {
	from, to, ok := in.source().Range(e)
	if !ok {
		return "", false
	}
	return string([]rune(in.spec.Rule)[from:to]), true
}

// parenthesized returns text in parentheses unless it replaces the whole rule.
func (in *inspection) parenthesized(e ast.Expr, text string) string {
	if e.ID() == in.expr.ast.NativeRep().Expr().ID() {
		return text
	}
	return "(" + text + ")"
}
