package vet

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/types"
)

// constantRule finds rules that are true or false for every valid object, as far as the schema
// determines that.
func constantRule(in *inspection) *problem {
	switch in.constant() {
	case always:
		return &problem{message: "the rule can never fail: the schema allows no value for which it is false; remove it, or correct it if it should reject something"}
	case never:
		return &problem{message: "the rule can never pass: the schema allows no value for which it is true"}
	}
	return nil
}

func (in *inspection) constant() truth {
	c := &constancy{walk: in.walk}
	e := in.expr.ast.NativeRep().Expr()
	v := maybe
	if !eval.MayPanic(in.expr.ast.NativeRep()) {
		v = c.truth(e)
	}
	if v == maybe && !mentions(e, types.Self, types.OldSelf) {
		v = evaluate(in.expr)
	}
	return v
}

type truth uint8

const (
	maybe truth = iota
	always
	never
)

func truthOf(b bool) truth {
	if b {
		return always
	}
	return never
}

func (t truth) not() truth {
	switch t {
	case always:
		return never
	case never:
		return always
	}
	return maybe
}

// maxConstantRuleCost is the cost limit for evaluating a rule that does not read the object.
const maxConstantRuleCost = 100_000

func evaluate(x *compiled) truth {
	prog, err := eval.New(x.env, x.ast, x.key.Decl, maxConstantRuleCost)
	if err != nil {
		return maybe
	}
	nothing := eval.Bind(x.key.Decl, nil)
	nothing.LimitWork(eval.MaxWork / 64) // keep the lint fast
	out := prog.Eval(context.Background(), nothing)
	if b, ok := out.Value.(celtypes.Bool); ok && out.Err == nil {
		return truthOf(bool(b))
	}
	return maybe
}

// constancy evaluates expressions abstractly: instead of values it uses the schema's restrictions.
type constancy struct {
	walk *pathWalk
	// created is set if oldSelf, which is an optional, has no value.
	created bool
}

func (c *constancy) truth(e ast.Expr) truth {
	switch e.Kind() {
	case ast.LiteralKind:
		if b, ok := e.AsLiteral().(celtypes.Bool); ok {
			return truthOf(bool(b))
		}
	case ast.SelectKind:
		if at := c.walk.pathOf(e); at != nil && e.AsSelect().IsTestOnly() && at.above != nil {
			if at.alwaysThere() && !at.decl.Nullable {
				return always
			}
		}
	case ast.CallKind:
		return c.call(e.AsCall())
	case ast.ComprehensionKind:
		return c.loop(e.AsComprehension())
	}
	return maybe
}

// loop evaluates all() and exists() if the condition has the same result for every element.
func (c *constancy) loop(loop ast.ComprehensionExpr) truth {
	start, step := c.truth(loop.AccuInit()), loop.LoopStep()
	if start == maybe || step.Kind() != ast.CallKind || len(step.AsCall().Args()) != 2 {
		return maybe
	}
	each := maybe
	c.walk.within(loop, func() { each = c.truth(step.AsCall().Args()[1]) })
	switch op := step.AsCall().FunctionName(); {
	case op == operators.LogicalAnd && start == always, op == operators.LogicalOr && start == never:
		if each == start {
			return start
		}
	}
	return maybe
}

func (c *constancy) call(call ast.CallExpr) truth {
	args := call.Args()
	switch op := call.FunctionName(); op {
	case operators.LogicalNot:
		return c.truth(args[0]).not()
	case operators.LogicalAnd:
		a, b := c.truth(args[0]), c.truth(args[1])
		if a == never || b == never {
			return never
		}
		if a == always && b == always {
			return always
		}
	case operators.LogicalOr:
		a, b := c.truth(args[0]), c.truth(args[1])
		if a == always || b == always {
			return always
		}
		if a == never && b == never {
			return never
		}
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return c.compare(op, args[0], args[1])
	case operators.In:
		return c.in(args[0], args[1])
	case "hasValue":
		if c.created && isIdent(call.Target(), types.OldSelf) {
			return never
		}
	case operators.Conditional:
		a, b := c.truth(args[1]), c.truth(args[2])
		switch c.truth(args[0]) {
		case always:
			return a
		case never:
			return b
		}
		if a == b {
			return a
		}
	}
	return maybe
}

type span struct{ min, max float64 }

func (c *constancy) compare(op string, a, b ast.Expr) truth {
	if x, y := c.walk.fieldOf(a), c.walk.fieldOf(b); x != nil && y != nil && !x.elements && x.path == y.path && x.decl.Kind != types.Double {
		switch op {
		case operators.Equals:
			return always
		case operators.NotEquals:
			return never
		}
	}
	if c.differ(a, b) || c.differ(b, a) {
		switch op {
		case operators.Equals:
			return never
		case operators.NotEquals:
			return always
		}
	}
	x, ok := c.span(a)
	y, ok2 := c.span(b)
	if !ok || !ok2 {
		return maybe
	}
	switch op {
	case operators.Less:
		return less(x, y)
	case operators.GreaterEquals:
		return less(x, y).not()
	case operators.Greater:
		return less(y, x)
	case operators.LessEquals:
		return less(y, x).not()
	}
	if x.max < y.min || y.max < x.min {
		return truthOf(op == operators.NotEquals)
	}
	return maybe
}

// differ reports whether a string of the object can never equal a literal.
func (c *constancy) differ(value, literal ast.Expr) bool {
	at := c.walk.fieldOf(value)
	if literal.Kind() != ast.LiteralKind || !at.is(types.String) {
		return false
	}
	text, ok := literal.AsLiteral().(celtypes.String)
	if !ok {
		return false
	}
	size, allowed := at.size(), at.node.ValueValidation.Enum
	n := float64(utf8.RuneCountInString(string(text)))
	listed := slices.ContainsFunc(allowed, func(v schema.JSON) bool { return v.Object == string(text) })
	return n < size.min || n > size.max || len(allowed) > 0 && !listed
}

func less(x, y span) truth {
	switch {
	case x.max < y.min:
		return always
	case x.min >= y.max:
		return never
	}
	return maybe
}

// span returns the range of an int literal, an integer field, or a size. It returns false for other
// expressions.
func (c *constancy) span(e ast.Expr) (span, bool) {
	switch e.Kind() {
	case ast.LiteralKind:
		if n, ok := e.AsLiteral().(celtypes.Int); ok {
			return span{float64(n), float64(n)}, true
		}
	case ast.CallKind:
		if of := sizeOperand(e); of != nil {
			if at := c.walk.pathOf(of); at != nil {
				return at.size(), true
			}
		}
	default:
		if at := c.walk.fieldOf(e); at.is(types.Int) {
			return at.number(), true
		}
	}
	return span{}, false
}

// is reports whether values at p have kind k, are never null, and are restricted by the schema.
func (p *exprPath) is(k types.Kind) bool {
	return p != nil && p.decl.Kind == k && !p.decl.Nullable && p.node != nil && p.node.ValueValidation != nil
}

func (p *exprPath) size() span {
	s := span{0, math.Inf(1)}
	set := func(minimum, maximum *int64) {
		if minimum != nil {
			s.min = math.Max(0, float64(*minimum))
		}
		if maximum != nil {
			s.max = math.Max(0, float64(*maximum))
		}
	}
	switch {
	case p.is(types.String):
		set(p.node.ValueValidation.MinLength, p.node.ValueValidation.MaxLength)
	case p.is(types.List):
		set(p.node.ValueValidation.MinItems, p.node.ValueValidation.MaxItems)
	case p.is(types.Map):
		set(p.node.ValueValidation.MinProperties, p.node.ValueValidation.MaxProperties)
	}
	return s
}

func (p *exprPath) number() span {
	s := span{math.Inf(-1), math.Inf(1)}
	if minimum := p.node.ValueValidation.Minimum; minimum != nil {
		s.min = *minimum
	}
	if maximum := p.node.ValueValidation.Maximum; maximum != nil {
		s.max = *maximum
	}
	return s
}

// in evaluates `value in list` for an enum value and a list of literals.
func (c *constancy) in(value, list ast.Expr) truth {
	at := c.walk.fieldOf(value)
	if list.Kind() != ast.ListKind || !at.is(types.String) {
		return maybe
	}
	literals := map[string]bool{}
	for _, item := range list.AsList().Elements() {
		text, ok := item.AsLiteral().(celtypes.String)
		if item.Kind() != ast.LiteralKind || !ok {
			return maybe
		}
		literals[string(text)] = true
	}
	in, out := 0, 0
	for _, v := range at.node.ValueValidation.Enum {
		if text, ok := v.Object.(string); ok && literals[text] {
			in++
		} else {
			out++
		}
	}
	switch {
	case in > 0 && out == 0:
		return always
	case out > 0 && in == 0:
		return never
	}
	return maybe
}
