package automaton

import (
	"encoding/binary"
	"slices"
)

// Search says which text is wanted. The zero value wants the shortest.
type Search struct {
	// MinLength and MaxLength bound the text, in code points; MaxLength 0 is no
	// bound.
	MinLength, MaxLength int
	// Count is how many texts are wanted; 0 is one.
	Count int
	// Steps bounds the work, in steps of a pattern; 0 is DefaultSteps.
	Steps int
}

// DefaultSteps is a matter of milliseconds.
const DefaultSteps = 200_000

// Found is the answer of Find.
type Found struct {
	// Texts are in the language, each once, the shortest first.
	Texts []string
	// Complete is true when there are no others within the bounds: with no Texts,
	// that is a proof. It is false where enough were found or the steps ran out.
	Complete bool
	// Spent is the work that it took, in steps.
	Spent int
}

// place is a text on the way: the states of all patterns behind it, and the
// place and the letter by which it came.
type place struct {
	states []int
	length int
	from   int
	letter rune
}

// Find looks for texts of the language. The same language and search always
// have the same answer.
func (l *Language) Find(s Search) Found {
	f := newFinder(l, s)
	f.find()
	f.found.Spent = f.spent()
	return f.found
}

func (f *finder) find() {
	f.visit(place{states: f.begin(), from: -1})
	for at := 0; at < len(f.places); at++ {
		if f.enough() {
			return
		}
		f.expand(at)
		if f.spent() > f.search.Steps {
			return
		}
	}
	f.found.Complete = !f.enough()
}

// Contains says whether a text is in the language.
func (l *Language) Contains(text string) bool {
	leaves := l.leaves(nil)
	values := make([]truth, len(leaves))
	for i, prog := range leaves {
		values[i] = never
		m := newMachine(prog, nil)
		at := m.begin()
		for _, r := range text {
			if m.states[at].known != unknown {
				break
			}
			at = m.walk(at, r)
		}
		if m.ends(at) {
			values[i] = always
		}
	}
	v, _ := l.value(values, 0)
	return v == always
}

type finder struct {
	language *Language
	search   Search
	alphabet alphabet
	machines []*machine
	places   []place
	// seen counts visits. As many to one tuple as texts are wanted suffice to find
	// them, if there are so many.
	seen   map[string]int
	leaves []truth // scratch
	found  Found
	steps  int
}

func newFinder(l *Language, s Search) *finder {
	if s.Steps == 0 {
		s.Steps = DefaultSteps
	}
	s.Count = max(s.Count, 1)
	patterns := l.leaves(nil)
	f := &finder{language: l, search: s, alphabet: newAlphabet(patterns), seen: map[string]int{}, leaves: make([]truth, len(patterns))}
	for _, p := range patterns {
		f.machines = append(f.machines, newMachine(p, f.alphabet))
	}
	return f
}

func (f *finder) begin() []int {
	states := make([]int, len(f.machines))
	for i, m := range f.machines {
		states[i] = m.begin()
	}
	return states
}

func (f *finder) enough() bool { return len(f.found.Texts) == f.search.Count }

func (f *finder) spent() int {
	n := f.steps
	for _, m := range f.machines {
		n += m.spent
	}
	return n
}

// expand goes on from a place by one code point of each class.
func (f *finder) expand(at int) {
	p := f.places[at]
	if f.search.MaxLength > 0 && p.length == f.search.MaxLength {
		return
	}
	for i, class := range f.alphabet {
		states := make([]int, len(p.states))
		for j, m := range f.machines {
			states[j] = m.step(p.states[j], i)
		}
		for _, letter := range class.letters(f.search.Count) {
			f.steps += 1 + len(f.machines)
			if f.enough() || f.spent() > f.search.Steps {
				return
			}
			f.visit(place{states, p.length + 1, at, letter})
		}
	}
}

// visit adds a place that is new and can lead somewhere, and its text to those
// found if it is one. Places differ by length only as far as MinLength asks.
func (f *finder) visit(p place) {
	key := binary.AppendUvarint(nil, uint64(min(p.length, f.search.MinLength)))
	for _, s := range p.states {
		key = binary.AppendUvarint(key, uint64(s))
	}
	if f.seen[string(key)] == f.search.Count {
		return
	}
	f.seen[string(key)]++
	for i, m := range f.machines {
		f.leaves[i] = m.states[p.states[i]].known
	}
	if v, _ := f.language.value(f.leaves, 0); v == never {
		return
	}
	f.places = append(f.places, p)
	if p.length >= f.search.MinLength && f.accepts(p.states) {
		f.found.Texts = append(f.found.Texts, f.text(len(f.places)-1))
	}
}

func (f *finder) accepts(states []int) bool {
	for i, m := range f.machines {
		f.leaves[i] = never
		if m.ends(states[i]) {
			f.leaves[i] = always
		}
	}
	v, _ := f.language.value(f.leaves, 0)
	return v == always
}

// text is the way to a place.
func (f *finder) text(at int) string {
	var runes []rune
	for ; f.places[at].from >= 0; at = f.places[at].from {
		runes = append(runes, f.places[at].letter)
	}
	slices.Reverse(runes)
	return string(runes)
}
