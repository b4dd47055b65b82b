package parse

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

var binary = [scan.Percent + 1]struct {
	name  string
	binds int
}{
	scan.Less: {operators.Less, relates}, scan.LessEquals: {operators.LessEquals, relates},
	scan.Greater: {operators.Greater, relates}, scan.GreaterEquals: {operators.GreaterEquals, relates},
	scan.Equals: {operators.Equals, relates}, scan.NotEquals: {operators.NotEquals, relates}, scan.In: {operators.In, relates},
	scan.Plus: {operators.Add, adds}, scan.Minus: {operators.Subtract, adds},
	scan.Star: {operators.Multiply, multiplies}, scan.Slash: {operators.Divide, multiplies}, scan.Percent: {operators.Modulo, multiplies},
}

const (
	relates = 1 + iota
	adds
	multiplies
)

func (s *state) expr() operand {
	if s.exprs == s.config.MaxDepth {
		return s.tooDeep()
	}
	s.exprs++
	e := s.conditional()
	if s.holes != nil {
		e = s.strays(e)
	}
	s.exprs--
	return e
}

func (s *state) conditional() operand {
	test := s.or()
	if test.expr == nil || s.tok.Kind != scan.Question {
		return test
	}
	return s.choice(test)
}

func (s *state) choice(test operand) operand {
	id := s.id(s.tok)
	s.advance()
	then := s.or()
	if s.holes != nil {
		then = s.choiceWithin(then)
	}
	if then.expr == nil || !s.expect(scan.Colon) {
		return operand{}
	}
	otherwise := s.expr()
	if otherwise.expr == nil {
		return operand{}
	}
	return s.call(id, operators.Conditional, max(test.height, then.height, otherwise.height)+1, test.expr, then.expr, otherwise.expr)
}

func (s *state) or() operand {
	e := s.and()
	if s.tok.Kind == scan.Or && e.expr != nil {
		e = s.chain(e, scan.Or, operators.LogicalOr)
	}
	return e
}

func (s *state) and() operand {
	e := s.relation()
	if s.tok.Kind == scan.And && e.expr != nil {
		e = s.chain(e, scan.And, operators.LogicalAnd)
	}
	return e
}

// chain parses the rest of a && b && c, starting at the first operator. The ID of an operator
// follows the IDs of its right operand.
func (s *state) chain(first operand, kind scan.Kind, name string) operand {
	from, fromOps, height := len(s.operands), len(s.ops), first.height
	s.operands = append(s.operands, first.expr)
	for s.tok.Kind == kind {
		op := s.tok
		s.advance()
		var next operand
		if kind == scan.Or {
			next = s.and()
		} else {
			next = s.relation()
		}
		if next.expr == nil {
			return operand{}
		}
		s.operands = append(s.operands, next.expr)
		s.ops = append(s.ops, s.id(op))
		height = max(height, next.height)
	}
	ops := s.ops[fromOps:]
	s.ops = s.ops[:fromOps]
	e := s.balanced(name, s.operands[from:], ops)
	clear(s.operands[from:])
	s.operands = s.operands[:from]
	return operand{e, height}
}

// balanced returns a balanced tree for a chain, with the middle operator as its root.
func (s *state) balanced(name string, terms []ast.Expr, ops []int64) ast.Expr {
	if len(ops) == 0 {
		return terms[0]
	}
	mid := len(ops) / 2
	left, right := s.balanced(name, terms[:mid+1], ops[:mid]), s.balanced(name, terms[mid+1:], ops[mid+1:])
	return s.factory.NewCall(ops[mid], name, s.list(left, right)...)
}

func (s *state) relation() operand {
	if s.relations == s.config.MaxDepth {
		return s.tooDeep()
	}
	s.relations++
	left := s.calc(adds)
	for left.expr != nil && binary[s.tok.Kind].binds == relates {
		name, id := binary[s.tok.Kind].name, s.id(s.tok)
		s.advance()
		left = s.binary(id, name, left, s.related())
	}
	s.relations--
	return left
}

// related parses the right side of a relation, which counts as a nested relation in cel-go.
func (s *state) related() operand {
	if s.relations == s.config.MaxDepth {
		return s.tooDeep()
	}
	s.relations++
	right := s.calc(adds)
	s.relations--
	return right
}

// calc parses a sum or a product of operators that bind at least as tightly as binds.
func (s *state) calc(binds int) operand {
	if s.calcs == s.config.MaxDepth {
		return s.tooDeep()
	}
	s.calcs++
	var left operand
	if kind := s.tok.Kind; kind == scan.Not || kind == scan.Minus {
		left = s.unary(kind)
	} else {
		left = s.member(s.primary())
	}
	for left.expr != nil && binary[s.tok.Kind].binds >= binds {
		op := binary[s.tok.Kind]
		id := s.id(s.tok)
		s.advance()
		left = s.binary(id, op.name, left, s.calc(op.binds+1))
	}
	s.calcs--
	return left
}

func (s *state) binary(id int64, name string, left, right operand) operand {
	if right.expr == nil {
		return operand{}
	}
	return s.call(id, name, max(left.height, right.height)+1, left.expr, right.expr)
}

// unary parses a sequence of ! or - and its operand. An even number of operators has no effect.
func (s *state) unary(kind scan.Kind) operand {
	op, n := s.tok, 0
	for s.accept(kind) {
		n++
	}
	if kind == scan.Minus && n == 1 && (s.tok.Kind == scan.Int || s.tok.Kind == scan.Float) {
		return s.member(s.number(op))
	}
	if n%2 == 0 {
		return s.member(s.primary())
	}
	name, id := operators.LogicalNot, s.id(op)
	if kind == scan.Minus {
		name = operators.Negate
	}
	of := s.member(s.primary())
	if of.expr == nil {
		return of
	}
	return s.call(id, name, of.height, of.expr)
}

func (s *state) call(id int64, name string, height int, args ...ast.Expr) operand {
	if height > s.config.MaxDepth {
		return s.tooHigh(operand{args[0], height})
	}
	list := s.list(args...)
	if s.operators {
		return operand{s.expanded(id, name, nil, list), height}
	}
	return operand{s.factory.NewCall(id, name, list...), height}
}
