package prove

import (
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// relate adds constraints for the strings that c is compared with. Automata check the rest if an example depends on
// it.
func (w *formula) relate(c *content) {
	var patterns []*member
	for _, m := range c.members {
		if !m.exact {
			patterns = append(patterns, m)
		}
	}
	before := w.no() // c equals one of the previous strings
	for _, m := range c.members {
		if !m.exact {
			continue
		}
		w.implies(before.Not(), m.lit)
		before = w.any(before, m.lit)
		for _, p := range patterns {
			if w.spend(1) {
				return
			}
			w.meter.Spend(p.language.Size())
			w.implies(literal(p.lit, p.language.Contains(m.text)), m.lit)
		}
		if w.spend(len(c.sizes.cuts) / 8) {
			return
		}
		size := int64(utf8.RuneCountInString(m.text))
		for i, lit := range c.sizes.lits {
			w.implies(literal(lit, size < c.sizes.cuts[i].i), m.lit)
		}
	}
}

func literal(l sat.Lit, holds bool) sat.Lit {
	if holds {
		return l
	}
	return l.Not()
}

// contradiction finds a value for which no string satisfies the solver's example, and returns
// conflicting literals. It returns nil if no conflict is known.
func (w *formula) contradiction() []sat.Lit {
	for _, c := range w.contents {
		if len(c.members) == 0 || !w.sat.True(c.present) {
			continue
		}
		if parts := c.example(); parts != nil && w.noText(parts) {
			return lits(parts)
		}
	}
	return nil
}

type stringConstraint struct {
	lit          sat.Lit
	language     *automaton.Language // or else a bound:
	lower, upper int64               // at least and less than; 0 if unset
}

// example returns the constraints of the solver's example on the string. It returns nil if the
// string equals a constant, whose constraints are already in the formula.
func (c *content) example() (parts []stringConstraint) {
	s := c.gates.sat
	for _, m := range c.members {
		switch {
		case !s.True(m.lit):
			parts = append(parts, stringConstraint{lit: m.lit.Not(), language: m.language.Not()})
		case m.exact:
			return nil
		default:
			parts = append(parts, stringConstraint{lit: m.lit, language: m.language})
		}
	}
	// The tightest bounds suffice.
	lower, upper := stringConstraint{}, stringConstraint{}
	for i, cut := range c.sizes.cuts {
		lit := c.sizes.lits[i]
		if s.True(lit) {
			upper = stringConstraint{lit: lit, upper: cut.i}
			break
		}
		lower = stringConstraint{lit: lit.Not(), lower: cut.i}
	}
	if lower.lower > 0 {
		parts = append(parts, lower)
	}
	if upper.upper > 0 {
		parts = append(parts, upper)
	}
	return parts
}

// maxSteps limits the work of automata for a question, and maxSearch for a single search. aSearch
// is the fixed cost of a search.
const (
	maxSteps  = 4_000_000
	maxSearch = 50_000
	aSearch   = 1_000
)

// noText reports whether automata find that no string satisfies the constraints. A false result proves nothing.
func (w *formula) noText(parts []stringConstraint) bool {
	left := maxSteps - w.steps
	if left <= 0 {
		return false
	}
	all, search := automaton.All(), automaton.Search{Steps: min(left, maxSearch)}
	empty := false
	for _, one := range parts {
		switch {
		case one.language != nil:
			all = all.And(one.language)
		case one.lower > 0:
			search.MinLength = int(min(one.lower, 1<<20))
		case one.upper == 1:
			empty = true
		default:
			search.MaxLength = int(min(one.upper-1, 1<<20))
		}
	}
	if empty {
		return search.MinLength > 0 || !all.Contains("")
	}
	if search.MaxLength > 0 && search.MinLength > search.MaxLength {
		return true
	}
	w.meter.Spend(all.Size())
	found := all.Find(search)
	w.steps += aSearch + found.Spent
	w.meter.Spend(aSearch + found.Spent)
	return found.Complete && len(found.Texts) == 0
}

func lits(parts []stringConstraint) []sat.Lit {
	out := make([]sat.Lit, len(parts))
	for i, one := range parts {
		out[i] = one.lit
	}
	return out
}
