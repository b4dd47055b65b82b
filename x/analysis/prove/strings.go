package prove

import (
	"slices"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// relate says of the texts that a string may be which languages they are in, how
// long they are, and that it is one of them at most. The rest is asked of the
// automata when an example depends on it.
func (w *formula) relate(c *content) {
	var patterns []*member
	for _, m := range c.members {
		if !m.exact {
			patterns = append(patterns, m)
		}
	}
	before := w.no() // it is one of the texts up to here
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

// contradiction finds a place whose string cannot be as the solver's example has
// it, and gives what of it cannot be together; nil where there is none, or none
// that is known.
func (w *formula) contradiction() []sat.Lit {
	for _, c := range w.contents {
		if len(c.members) == 0 || !w.sat.True(c.present) {
			continue
		}
		if parts := c.example(); parts != nil && w.noText(parts) {
			return lits(w.shrunk(parts))
		}
	}
	return nil
}

// part is what an example says of a string.
type part struct {
	lit        sat.Lit
	language   *automaton.Language // or a bound:
	least, end int64               // at least, and less than; 0 is none
}

// example is what the solver's example says of the string at a place; nil where
// it is one certain text, of which all is said.
func (c *content) example() (parts []part) {
	s := c.gates.sat
	for _, m := range c.members {
		switch {
		case !s.True(m.lit):
			parts = append(parts, part{lit: m.lit.Not(), language: m.language.Not()})
		case m.exact:
			return nil
		default:
			parts = append(parts, part{lit: m.lit, language: m.language})
		}
	}
	// Of the bounds the nearest are enough.
	least, end := part{}, part{}
	for i, cut := range c.sizes.cuts {
		lit := c.sizes.lits[i]
		if s.True(lit) {
			end = part{lit: lit, end: cut.i}
			break
		}
		least = part{lit: lit.Not(), least: cut.i}
	}
	if least.least > 0 {
		parts = append(parts, least)
	}
	if end.end > 0 {
		parts = append(parts, end)
	}
	return parts
}

// maxSteps bounds the work of the automata for one question, and maxSearch that of
// one search; a search costs something of itself.
const (
	maxSteps  = 4_000_000
	maxSearch = 50_000
	aSearch   = 1_000
)

// noText asks the automata.
func (w *formula) noText(parts []part) bool {
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
		case one.least > 0:
			search.MinLength = int(min(one.least, 1<<20))
		case one.end == 1:
			empty = true
		default:
			search.MaxLength = int(min(one.end-1, 1<<20))
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

// shrunk leaves out what is not needed for the contradiction.
func (w *formula) shrunk(parts []part) []part {
	for i := 0; i < len(parts); {
		if fewer := slices.Delete(slices.Clone(parts), i, i+1); w.noText(fewer) {
			parts = fewer
		} else {
			i++
		}
	}
	return parts
}

func lits(parts []part) []sat.Lit {
	out := make([]sat.Lit, len(parts))
	for i, one := range parts {
		out[i] = one.lit
	}
	return out
}
