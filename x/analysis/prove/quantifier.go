package prove

// How it works. The result of all or exists is determined by two representative elements: an
// element that determines the result, and an element for which the body fails, if they exist. The
// result then constrains, up to a limit, every other known element of the same list, that is, the
// representatives of other macros and the elements at constant indexes (instantiate).

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

func (x *reading) loop(e ast.Expr) truth {
	l, ok := quantifierOf(e)
	if !ok {
		return x.unmodeled(e)
	}
	ranges := x.value(l.Over)
	if !elements(ranges) {
		return x.unmodeled(e)
	}
	return x.formula.quantified(x.term(e), ranges, l.Name == loops.All, func(q *place) truth { return x.element(q, l).truth(l.Body) })
}

// elements reports whether all possible values are lists or maps whose elements rules can see and that
// are never null.
func elements(ranges []alt) bool {
	return !slices.ContainsFunc(ranges, func(a alt) bool { return a.place == nil || a.size || !a.place.plainElements() })
}

func quantifierOf(e ast.Expr) (l loops.Loop, ok bool) {
	l, ok = loops.Of(e)
	return l, ok && l.Settled != nil
}

type quantifier struct {
	over  *place
	when  sat.Lit // the macro iterates over this list or map
	every bool
	given truth
	body  func(*place) truth
	done  map[*place]bool // elements that are already constrained
}

func (w *formula) quantified(key string, ranges []alt, every bool, body func(*place) truth) truth {
	if v, ok := w.loops[key]; ok {
		return v
	}
	g := &w.gates
	defined, empty := g.no(), g.no()
	decides, fails := g.no(), g.no()
	of := make([]*quantifier, len(ranges))
	for i, a := range ranges {
		defined = g.any(defined, a.when)
		empty = g.any(empty, g.both(a.when, a.place.sizes.less(cut{i: 1})))
		one, other := a.place.some("decides "+key), a.place.some("fails "+key)
		v := body(one)
		t := v.t
		if every {
			t = v.f
		}
		decides = g.any(decides, g.both(a.when, t))
		fails = g.any(fails, g.both(a.when, body(other).defined(g).Not()))
		of[i] = &quantifier{over: a.place, when: a.when, every: every, body: body, done: map[*place]bool{}}
	}
	// In a nonempty list, an element decides, or an element fails, or neither.
	decided := g.all(defined, empty.Not(), decides, g.free())
	failed := g.all(defined, empty.Not(), decided.Not(), fails, g.free())
	rest := g.all(defined, decided.Not(), failed.Not())
	v := truth{decided, rest}
	if every {
		v = truth{rest, decided}
	}
	for _, q := range of {
		q.given = v
	}
	w.quantifiers = append(w.quantifiers, of...)
	w.loops[key] = v
	return v
}

const maxInstances = 250

// instantiate applies each macro to the known elements. This can create more macros and elements.
// It stops at the limit, which can only lose proofs.
func (w *formula) instantiate() {
	for again := true; again; {
		again = false
		for i := 0; i < len(w.quantifiers) && !w.tooLarge; i++ {
			q := w.quantifiers[i]
			for _, id := range sortedKeys(q.over.below) {
				one := q.over.below[id]
				if q.done[one] {
					continue
				}
				if w.instances++; w.instances > maxInstances {
					return
				}
				q.done[one], again = true, true
				q.assert(one)
			}
		}
	}
}

func (q *quantifier) assert(one *place) {
	w := one.formula
	v := q.body(one)
	if q.every {
		w.implies(v.t, q.when, one.present, q.given.t)
		w.implies(q.given.f, q.when, one.present, v.f)
		return
	}
	w.implies(v.f, q.when, one.present, q.given.f)
	w.implies(q.given.t, q.when, one.present, v.t)
}

func (x *reading) element(q *place, l loops.Loop) *reading {
	value := q.variable()
	at := variable{key: q.index.name(), alts: []alt{*q.index}}
	switch {
	case l.Index != "":
		return x.with(l.Index, at).with(l.Variable, value)
	case q.parent.decl.Kind == types.Map:
		return x.with(l.Variable, at)
	}
	return x.with(l.Variable, value)
}
