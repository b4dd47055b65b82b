package prove

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

func (x *reading) pairs(relation string, left, right ast.Expr, holds func(a, b alt) sat.Lit) truth {
	g := &x.formula.gates
	var t, f []sat.Lit
	as, bs := x.value(left), x.value(right)
	if x.formula.spend(len(as) * len(bs) / 8) {
		return g.anything(g.yes)
	}
	for _, a := range as {
		for _, b := range bs {
			when, h := g.all(a.when, b.when, x.taken(relation, left, a, right, b)), holds(a, b)
			t, f = append(t, g.both(when, h)), append(f, g.both(when, h.Not()))
		}
	}
	return truth{g.any(t...), g.any(f...)}
}

func (x *reading) equality(left, right ast.Expr) (is, isNot, fails sat.Lit) {
	g := &x.formula.gates
	if x.isBool(left) && x.isBool(right) && x.sure(left) && x.sure(right) {
		a, b := x.truth(left), x.truth(right)
		return g.any(g.all(a.t, b.t), g.all(a.f, b.f)), g.any(g.all(a.t, b.f), g.all(a.f, b.t)), g.no()
	}
	is, isNot, fails = g.no(), g.no(), g.no()
	as, bs := x.value(left), x.value(right)
	if x.formula.spend(len(as) * len(bs) / 8) {
		return g.free(), g.free(), g.free()
	}
	for _, a := range as {
		for _, b := range bs {
			when := g.both(a.when, b.when)
			equal, odd := x.equals(x.side(left, a), x.side(right, b))
			is, fails = g.any(is, g.both(when, equal)), g.any(fails, g.both(when, odd))
			isNot = g.any(isNot, g.all(when, equal.Not(), odd.Not()))
		}
	}
	return is, isNot, fails
}

// same returns a literal that holds if two values are equal and can be compared. bothWays is set if
// the order of the operands does not matter.
func (x *reading) same(a, b alt, bothWays bool) sat.Lit {
	g := &x.formula.gates
	if a.constant != nil && b.constant != nil {
		return literal(g.yes, a.constant.Equal(b.constant) == celtypes.True)
	}
	if a.constant != nil {
		a, b = b, a
	}
	if a.place != nil && b.constant != nil {
		if l, ok := x.placeIs(a, b.constant); ok {
			return l
		}
	}
	if a.place != nil && a.place == b.place && a.size == b.size && a.plus == b.plus {
		return g.yes
	}
	p, q := a.name(), b.name()
	if q < p && bothWays {
		p, q = q, p
	}
	l, known := x.formula.relation(p + " == " + q)
	if known {
		return l
	}
	x.formula.means(l, "=", a, b)
	if scalars(a, b) {
		x.formula.equalities = append(x.formula.equalities, equality{a.place.content, b.place.content, l})
	} else {
		x.formula.vague++
	}
	return l
}

func scalars(a, b alt) bool {
	if a.place == nil || b.place == nil || a.size || b.size || a.plus != 0 || b.plus != 0 {
		return false
	}
	k := a.place.decl.Kind
	return k == b.place.decl.Kind && (k == types.String || k == types.Int)
}

func (x *reading) placeIs(a alt, v ref.Val) (sat.Lit, bool) {
	g := &x.formula.gates
	p := a.place
	switch v := v.(type) {
	case celtypes.Null:
		return g.no(), true // null is treated as absent
	case celtypes.Int:
		if o := a.order(); o != nil && math.Abs(float64(v)) < small*2 && math.Abs(float64(a.plus)) < small*2 {
			return o.equal(int64(v) - a.plus), true
		}
	case celtypes.String:
		if p.decl.Kind == types.String && !a.size {
			return p.is(string(v))
		}
	case celtypes.Double:
		if p.decl.Kind == types.Double && !a.size {
			f := float64(v)
			return g.both(p.numbers.less(cut{f: f}).Not(), p.numbers.less(cut{f: f, closed: true})), f == f
		}
	}
	return 0, false
}

func (a alt) order() *order {
	switch {
	case a.place == nil:
		return nil
	case a.size:
		return a.place.sizes
	case a.place.decl.Kind == types.Int:
		return a.place.numbers
	}
	return nil
}

// compare returns the truth of e, which is left < right, or left <= right if closed is set.
func (x *reading) compare(e, left, right ast.Expr, closed bool) truth {
	if !x.ordered(left, right) {
		return x.unmodeled(e)
	}
	if closed {
		return x.pairs("less", right, left, x.less).not()
	}
	return x.pairs("less", left, right, x.less)
}

// ordered reports whether the operands have the same type and its values, without NaN, have a total
// order.
func (x *reading) ordered(left, right ast.Expr) bool {
	if x.kind(left) != x.kind(right) {
		return false
	}
	switch x.kind(left) {
	case celtypes.IntKind, celtypes.StringKind, celtypes.DurationKind, celtypes.TimestampKind:
		return true
	case celtypes.DoubleKind:
		return x.plainDoubles(left) && x.plainDoubles(right)
	}
	return false
}

// plainDoubles reports whether e is a constant or a value in the object. Other expressions, such as
// arithmetic, could result in NaN.
func (x *reading) plainDoubles(e ast.Expr) bool {
	for _, a := range x.value(e) {
		if a.place == nil && a.constant == nil {
			return false
		}
	}
	return true
}

func (x *reading) less(a, b alt) sat.Lit {
	g := &x.formula.gates
	switch {
	case a.constant != nil && b.constant != nil:
		if c, ok := a.constant.(traits.Comparer); ok {
			return literal(g.yes, c.Compare(b.constant) == celtypes.IntNegOne)
		}
	case b.constant != nil:
		if l, ok := x.below(a, b.constant, false); ok {
			return l
		}
	case a.constant != nil:
		if l, ok := x.below(b, a.constant, true); ok {
			return l.Not()
		}
	case a.name() == b.name():
		return g.no()
	}
	l, known := x.formula.relation(a.name() + " < " + b.name())
	if !known { // exactly one of less, more, and equal holds
		more, _ := x.formula.relation(b.name() + " < " + a.name())
		x.formula.means(l, "<", a, b)
		x.formula.means(more, "<", b, a)
		same := x.same(a, b, true)
		x.formula.clause(l, more, same)
		x.formula.clause(l.Not(), more.Not())
		x.formula.clause(l.Not(), same.Not())
		x.formula.clause(more.Not(), same.Not())
	}
	return l
}

func (x *reading) below(a alt, v ref.Val, closed bool) (sat.Lit, bool) {
	switch v := v.(type) {
	case celtypes.Int:
		o := a.order()
		if o == nil || math.Abs(float64(v)) >= small*2 || math.Abs(float64(a.plus)) >= small*2 {
			return 0, false
		}
		c := int64(v) - a.plus
		if closed {
			c++
		}
		return o.less(cut{i: c}), true
	case celtypes.Double:
		if f := float64(v); f == f && a.place != nil && !a.size && a.place.decl.Kind == types.Double {
			return a.place.numbers.less(cut{f: f, closed: closed}), true
		}
	}
	return 0, false
}

func (x *reading) membership(e, left, right ast.Expr) truth {
	if right.Kind() == ast.ListKind && len(right.AsList().OptionalIndices()) == 0 {
		return x.oneOf(left, right.AsList().Elements())
	}
	if x.kind(right) != celtypes.MapKind {
		return x.unmodeled(e)
	}
	return x.pairs("in", left, right, func(key, m alt) sat.Lit {
		if q := element(m, key); q != nil && key.constant != celtypes.String("") {
			return q.present
		}
		return x.formula.named(key.name() + " in " + m.name())
	})
}

// oneOf returns the truth of membership in a list literal. An item that cannot be compared does not
// match.
func (x *reading) oneOf(left ast.Expr, items []ast.Expr) truth {
	g := &x.formula.gates
	values := x.value(left)
	defined, some := valued(g, values), g.no()
	for _, item := range items {
		all := x.value(item)
		if x.formula.spend(len(values) * len(all) / 8) {
			return g.anything(defined)
		}
		defined = g.both(defined, valued(g, all))
		for _, a := range values {
			for _, b := range all {
				is, _ := x.equals(x.side(left, a), x.side(item, b))
				some = g.any(some, g.all(a.when, b.when, is))
			}
		}
	}
	return g.given(defined, some)
}

func valued(g *gates, values []alt) sat.Lit {
	some := g.no()
	for _, a := range values {
		some = g.any(some, a.when)
	}
	return some
}

func (x *reading) textual(e ast.Expr, call ast.CallExpr) truth {
	args := loops.Children(e)
	if len(args) != 2 || x.kind(args[0]) != celtypes.StringKind || args[1].Kind() != ast.LiteralKind {
		return x.unmodeled(e)
	}
	by, ok := args[1].AsLiteral().(celtypes.String)
	if !ok {
		return x.unmodeled(e)
	}
	name, text := call.FunctionName(), string(by)
	if name == "matches" && regexcost.Matcher(text) == nil {
		return x.unmodeled(e)
	}
	return x.pairs(name, args[0], args[1], func(a, _ alt) sat.Lit {
		g := &x.formula.gates
		if s, ok := a.constant.(celtypes.String); ok {
			return literal(g.yes, predicates[name].holds(string(s), text))
		}
		if a.place != nil && !a.size && a.place.decl.Kind == types.String {
			if l, ok := a.place.in(name[:1]+"~"+text, func() (*automaton.Language, error) { return predicates[name].language(text) }); ok {
				return l
			}
		}
		return x.formula.named(fmt.Sprintf("%s %s %q", a.name(), name, text))
	})
}

var predicates = map[string]struct {
	holds    func(s, text string) bool
	language func(text string) (*automaton.Language, error)
}{
	"startsWith": {strings.HasPrefix, automaton.Prefix},
	"endsWith":   {strings.HasSuffix, automaton.Suffix},
	"contains":   {strings.Contains, automaton.Containing},
	"matches":    {func(s, pattern string) bool { return regexcost.Matcher(pattern).MatchString(s) }, automaton.Compile},
}
