package guard

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// A spot is a part of an expression and the path to it.
type spot struct {
	e     ast.Expr
	above *spot
	// lazy is set if the part above can have a value although this part fails.
	lazy bool
	// sign is the effect on the part above if this part changes from false to true: 1 is the same
	// change, -1 the opposite, and 0 is unknown.
	sign int
}

// polarity returns the effect of the part on the whole expression, as a sign.
func (s *spot) polarity() int {
	sign := 1
	for ; s.above != nil; s = s.above {
		sign *= s.sign
	}
	return sign
}

func walk(s *spot, visit func(*spot)) {
	visit(s)
	for _, below := range s.parts() {
		walk(below, visit)
	}
}

func (s *spot) parts() (all []*spot) {
	add := func(e ast.Expr, lazy bool, sign int) { all = append(all, &spot{e, s, lazy, sign}) }
	switch s.e.Kind() {
	case ast.ComprehensionKind:
		loop, ok := loops.Of(s.e)
		add(loop.Over, false, 0)
		switch {
		case ok && loop.Settled != nil:
			add(loop.Body, true, 1)
		case ok:
			add(loop.Body, true, 0)
		}
	case ast.CallKind:
		s.operands(add)
	default:
		for _, e := range loops.Children(s.e) {
			add(e, false, 0)
		}
	}
	return all
}

func (s *spot) operands(add func(e ast.Expr, lazy bool, sign int)) {
	call := s.e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		add(args[0], false, -1)
	case operators.LogicalAnd, operators.LogicalOr:
		add(args[0], true, 1)
		add(args[1], true, 1)
	case operators.Conditional:
		add(args[0], false, 0)
		add(args[1], true, 1)
		add(args[2], true, 1)
	default:
		if call.IsMemberFunction() {
			add(call.Target(), false, 0)
		}
		for _, arg := range args {
			add(arg, call.FunctionName() == "orValue" || call.FunctionName() == "or", 0)
		}
	}
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

// shape returns a string that is equal for expressions with the same syntax tree, regardless of parentheses, spaces,
// and how the parser groups the terms of && and ||.
func shape(e ast.Expr) string {
	head, parts := "", loops.Children(e)
	switch e.Kind() {
	case ast.LiteralKind:
		head = fmt.Sprintf("%s %q", e.AsLiteral().Type().TypeName(), fmt.Sprint(e.AsLiteral().Value()))
	case ast.IdentKind:
		head = e.AsIdent()
	case ast.SelectKind:
		head = fmt.Sprint(e.AsSelect().FieldName(), e.AsSelect().IsTestOnly())
	case ast.CallKind:
		name := e.AsCall().FunctionName()
		head = fmt.Sprint(name, e.AsCall().IsMemberFunction())
		if name == operators.LogicalAnd || name == operators.LogicalOr {
			parts = loops.Terms(e, name)
		}
	case ast.ListKind:
		head = fmt.Sprint(e.AsList().OptionalIndices())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			head += fmt.Sprint(entry.AsMapEntry().IsOptional())
		}
	case ast.ComprehensionKind:
		head = e.AsComprehension().IterVar() + " " + e.AsComprehension().IterVar2()
	}
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(shape(part) + ", ")
	}
	return fmt.Sprintf("%d %s(%s)", e.Kind(), head, b.String())
}
