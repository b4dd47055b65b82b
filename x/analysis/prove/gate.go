package prove

import (
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// gates builds literals from other literals. Equal combinations share a literal.
type gates struct {
	sat          *sat.Solver
	yes          sat.Lit
	and          map[[2]sat.Lit]sat.Lit
	recording    *recording // nil outside tests
	meter        *work.Meter
	instructions int // the size of all patterns
}

func newGates(r *recording, m *work.Meter) gates {
	g := gates{meter: m, sat: sat.New(), and: map[[2]sat.Lit]sat.Lit{}, recording: r}
	g.yes = g.sat.Var()
	g.clause(g.yes)
	return g
}

// clause asserts that at least one of the literals is true.
func (g *gates) clause(lits ...sat.Lit) {
	g.meter.Spend(4 + len(lits))
	g.sat.Add(lits...)
	g.recording.clause(lits)
}

func (g *gates) no() sat.Lit { return g.yes.Not() }

// free returns a new, unconstrained literal.
func (g *gates) free() sat.Lit { return g.sat.Var() }

func (g *gates) all(lits ...sat.Lit) sat.Lit {
	result := g.yes
	for _, l := range lits {
		result = g.both(result, l)
	}
	return result
}

func (g *gates) any(lits ...sat.Lit) sat.Lit {
	result := g.no()
	for _, l := range lits {
		result = g.both(result.Not(), l.Not()).Not()
	}
	return result
}

func (g *gates) both(a, b sat.Lit) sat.Lit {
	switch {
	case a == g.no() || b == g.no() || a == b.Not():
		return g.no()
	case a == g.yes || a == b:
		return b
	case b == g.yes:
		return a
	}
	key := [2]sat.Lit{min(a, b), max(a, b)}
	if l, ok := g.and[key]; ok {
		return l
	}
	l := g.free()
	g.clause(l.Not(), a)
	g.clause(l.Not(), b)
	g.clause(l, a.Not(), b.Not())
	g.and[key] = l
	return l
}

func (g *gates) either(condition, then, otherwise sat.Lit) sat.Lit {
	return g.any(g.all(condition, then), g.all(condition.Not(), otherwise))
}

// implies asserts that then holds if all of when hold.
func (g *gates) implies(then sat.Lit, when ...sat.Lit) {
	lits := []sat.Lit{then}
	for _, l := range when {
		lits = append(lits, l.Not())
	}
	g.clause(lits...)
}

// truth is the result of a bool expression. It is an error if neither t nor f holds.
type truth struct{ t, f sat.Lit }

func (v truth) defined(g *gates) sat.Lit { return g.any(v.t, v.f) }

func (v truth) not() truth { return truth{v.f, v.t} }

// given returns a truth that has the value holds if defined is true, and is an error otherwise.
func (g *gates) given(defined, holds sat.Lit) truth {
	return truth{g.both(defined, holds), g.both(defined, holds.Not())}
}

// anything returns an unconstrained truth that is an error at least if defined is false.
func (g *gates) anything(defined sat.Lit) truth {
	return g.given(g.both(defined, g.free()), g.free())
}
