package vet

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

func constantRule(in *inspection) *Lint {
	switch in.constant() {
	case always:
		return &Lint{Message: "the rule can never fail: the schema allows no value for which it is false; remove it, or correct it if it should reject something"}
	case never:
		return &Lint{Message: "the rule can never pass: the schema allows no value for which it is true"}
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
		out := run(in.expr.env, in.expr.ast, in.expr.key.Decl)
		if b, ok := out.Value.(celtypes.Bool); ok && out.Err == nil {
			v = truthOf(bool(b))
		}
	}
	return v
}

// A truth is a value of three-valued logic: the negation is -t, && is the minimum, and || the maximum.
type truth int8

const (
	never truth = iota - 1
	maybe
	always
)

func truthOf(b bool) truth {
	if b {
		return always
	}
	return never
}

const maxConstantRuleCost = 100_000

// The expression must read nothing. The outcome is zero if it cannot be planned.
func run(env *cel.Env, checked *cel.Ast, d *types.Decl) (out eval.Outcome) {
	prog, err := eval.New(env, checked, d, maxConstantRuleCost)
	if err != nil {
		return out
	}
	nothing := eval.Bind(d, nil)
	nothing.LimitWork(eval.MaxWork / 64) // keep the lint fast
	return prog.Eval(context.Background(), nothing)
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
		return c.loop(e)
	}
	return maybe
}

func (c *constancy) loop(e ast.Expr) truth {
	each := maybe
	m, ok := loops.Of(e)
	if ok && (m.Name == loops.All || m.Name == loops.Exists) {
		c.walk.within(e.AsComprehension(), func() { each = c.truth(m.Body) })
	}
	if m.Name == loops.All && each == never || m.Name == loops.Exists && each == always { // the list may be empty
		return maybe
	}
	return each
}

func (c *constancy) call(call ast.CallExpr) truth {
	args := call.Args()
	switch op := call.FunctionName(); op {
	case operators.LogicalNot:
		return -c.truth(args[0])
	case operators.LogicalAnd:
		return min(c.truth(args[0]), c.truth(args[1]))
	case operators.LogicalOr:
		return max(c.truth(args[0]), c.truth(args[1]))
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
	equal, isLess, isGreater := maybe, maybe, maybe
	x, ok := c.span(a)
	y, ok2 := c.span(b)
	if ok && ok2 {
		isLess, isGreater = less(x, y), less(y, x)
	}
	p, q := c.walk.fieldOf(a), c.walk.fieldOf(b)
	switch {
	case p != nil && q != nil && !p.elements && p.path == q.path && p.decl.Kind != types.Double:
		equal = always
	case isLess == always, isGreater == always, c.differ(a, b), c.differ(b, a):
		equal = never
	}
	switch op {
	case operators.Less:
		return isLess
	case operators.GreaterEquals:
		return -isLess
	case operators.Greater:
		return isGreater
	case operators.LessEquals:
		return -isGreater
	case operators.NotEquals:
		return -equal
	}
	return equal
}

func (c *constancy) differ(value, literal ast.Expr) bool {
	at := c.walk.fieldOf(value)
	text, ok := literal.AsLiteral().(celtypes.String)
	if !ok || !at.is(types.String) {
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
			return spanOf(math.Inf(-1), at.node.ValueValidation.Minimum, at.node.ValueValidation.Maximum), true
		}
	}
	return span{}, false
}

// is also requires that the values are never null, and that the schema restricts them.
func (p *exprPath) is(k types.Kind) bool {
	return p != nil && p.decl.Kind == k && !p.decl.Nullable && p.node != nil && p.node.ValueValidation != nil
}

func (p *exprPath) size() span {
	switch {
	case p.is(types.String):
		return spanOf(0, p.node.ValueValidation.MinLength, p.node.ValueValidation.MaxLength)
	case p.is(types.List):
		return spanOf(0, p.node.ValueValidation.MinItems, p.node.ValueValidation.MaxItems)
	case p.is(types.Map):
		return spanOf(0, p.node.ValueValidation.MinProperties, p.node.ValueValidation.MaxProperties)
	}
	return span{0, math.Inf(1)}
}

func spanOf[N int64 | float64](low float64, minimum, maximum *N) span {
	s := span{low, math.Inf(1)}
	if minimum != nil {
		s.min = max(low, float64(*minimum))
	}
	if maximum != nil {
		s.max = max(low, float64(*maximum))
	}
	return s
}

// The result is maybe unless value is a field with an enum and list contains only string literals.
func (c *constancy) in(value, list ast.Expr) truth {
	at := c.walk.fieldOf(value)
	if !at.is(types.String) {
		return maybe
	}
	texts, ok := literals(list)
	if !ok {
		return maybe
	}
	in, out := 0, 0
	for _, v := range at.node.ValueValidation.Enum {
		if text, ok := v.Object.(string); ok && slices.Contains(texts, text) {
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
