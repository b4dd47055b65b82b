package prove

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// loop is a macro of type bool.
func (x *reading) loop(e ast.Expr) truth {
	c := e.AsComprehension()
	body, every, ok := quantifierOf(c)
	if !ok {
		return x.unmodelledLoop(e)
	}
	for _, a := range x.value(c.IterRange()) {
		if a.place == nil || a.size || !a.place.plainElements() {
			return x.unmodelledLoop(e)
		}
	}
	return x.quantified(e, c, body, every)
}

// unmodelledLoop: an error in the range is one of the macro.
func (x *reading) unmodelledLoop(e ast.Expr) truth {
	g := &x.world.gates
	key := x.key(e)
	defined := g.both(x.defined(e.AsComprehension().IterRange()), x.world.named("defined: "+key))
	return g.given(defined, x.world.named(key))
}

// quantifierOf tells all and exists by their expansion.
func quantifierOf(c ast.ComprehensionExpr) (body ast.Expr, every, ok bool) {
	init, step := c.AccuInit(), c.LoopStep()
	if init.Kind() != ast.LiteralKind || step.Kind() != ast.CallKind || !isIdent(c.Result(), c.AccuVar()) {
		return nil, false, false
	}
	call := step.AsCall()
	args := call.Args()
	switch {
	case init.AsLiteral() == celtypes.True && call.FunctionName() == operators.LogicalAnd:
		every = true
	case init.AsLiteral() == celtypes.False && call.FunctionName() == operators.LogicalOr:
	default:
		return nil, false, false
	}
	return args[1], every, isIdent(args[0], c.AccuVar())
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// quantified says of all and exists what can be said with two elements that
// stand for the others: one on which the body decides, if any does, and one on
// which it fails, if any does.
func (x *reading) quantified(e ast.Expr, c ast.ComprehensionExpr, body ast.Expr, every bool) truth {
	g := &x.world.gates
	key := x.key(e)
	if v, ok := x.world.loops[key]; ok {
		return v
	}
	defined, empty := g.no(), g.no()
	decides, fails := g.no(), g.no()
	for _, a := range x.value(c.IterRange()) {
		defined = g.any(defined, a.when)
		empty = g.any(empty, g.both(a.when, a.place.sizes.less(cut{i: 1})))
		one, v := x.element(a, c, body, key+" decides")
		t := v.t
		if every {
			t = v.f
		}
		decides = g.any(decides, g.all(a.when, one.present, t))
		other, w := x.element(a, c, body, key+" fails")
		fails = g.any(fails, g.all(a.when, other.present, w.defined(g).Not()))
	}
	// With elements, either one decides, or one fails, or the others are so.
	decided := g.all(defined, empty.Not(), decides, g.free())
	failed := g.all(defined, empty.Not(), decided.Not(), fails, g.free())
	rest := g.all(defined, decided.Not(), failed.Not())
	v := truth{decided, rest}
	if every {
		v = truth{rest, decided}
	}
	x.world.loops[key] = v
	return v
}

// element is an item or an entry of what a macro goes through, and the body's
// truth there.
func (x *reading) element(a alt, c ast.ComprehensionExpr, body ast.Expr, id string) (*place, truth) {
	g := &x.world.gates
	q := a.place.one(id)
	value := variable{key: q.key, alts: []alt{{when: g.yes, place: q}}}
	if q.decl.Kind == types.Bool {
		value.truth = &truth{q.flag, q.flag.Not()}
	}
	index := "index of " + q.key
	at := variable{key: index, alts: []alt{{when: g.yes, key: index}}}
	inner := x
	switch {
	case c.HasIterVar2():
		inner = x.with(c.IterVar(), at).with(c.IterVar2(), value)
	case a.place.decl.Kind == types.Map:
		inner = x.with(c.IterVar(), at)
	default:
		inner = x.with(c.IterVar(), value)
	}
	return q, inner.truth(body)
}
