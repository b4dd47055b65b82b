package guard

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

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

// walk visits the parts of an expression in source order.
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

// shape returns a string that is equal for expressions with the same syntax tree, regardless of
// parentheses and spaces. Parts whose id is in instead have that shape.
func shape(e ast.Expr, instead map[int64]string) string {
	if text, ok := instead[e.ID()]; ok {
		return text
	}
	list := func(all []ast.Expr) string {
		var b strings.Builder
		for _, e := range all {
			b.WriteString(shape(e, instead) + ", ")
		}
		return b.String()
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return fmt.Sprintf("%s %q", e.AsLiteral().Type().TypeName(), fmt.Sprint(e.AsLiteral().Value()))
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		sel := e.AsSelect()
		return fmt.Sprintf("%s.%s%t", shape(sel.Operand(), instead), sel.FieldName(), sel.IsTestOnly())
	case ast.CallKind:
		call := e.AsCall()
		switch name := call.FunctionName(); {
		case name == operators.LogicalAnd, name == operators.LogicalOr:
			return joined(e, name, instead)
		case call.IsMemberFunction():
			return fmt.Sprintf("%s->%s(%s)", shape(call.Target(), instead), name, list(call.Args()))
		default:
			return fmt.Sprintf("%s(%s)", name, list(call.Args()))
		}
	case ast.ListKind:
		return fmt.Sprintf("[%s]%v", list(e.AsList().Elements()), e.AsList().OptionalIndices())
	case ast.MapKind:
		var b strings.Builder
		for _, entry := range e.AsMap().Entries() {
			m := entry.AsMapEntry()
			fmt.Fprintf(&b, "%s: %s %t, ", shape(m.Key(), instead), shape(m.Value(), instead), m.IsOptional())
		}
		return "{" + b.String() + "}"
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return fmt.Sprintf("fold(%s, %s, %s, %s)", c.IterVar(), c.IterVar2(), c.AccuVar(), list([]ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}))
	}
	return "?"
}

// joined returns the shape of a chain of && or ||, regardless of how the parser groups its terms.
func joined(e ast.Expr, operator string, instead map[int64]string) string {
	if text, ok := instead[e.ID()]; ok {
		return text
	}
	if !isCall(e, operator) {
		return shape(e, instead)
	}
	args := e.AsCall().Args()
	return joined(args[0], operator, instead) + operator + joined(args[1], operator, instead)
}

// literal returns the value of a string or int constant, and false for any other expression.
func literal(e ast.Expr) (any, bool) {
	if e.Kind() != ast.LiteralKind {
		return nil, false
	}
	switch v := e.AsLiteral().(type) {
	case celtypes.String:
		return string(v), true
	case celtypes.Int:
		return int64(v), true
	}
	return nil, false
}
