package automaton

import (
	"encoding/binary"
	"slices"
)

// Search describes the wanted strings. The zero value requests the shortest string.
type Search struct {
	// MinLength and MaxLength limit the length of the strings in code points. If MaxLength is 0,
	// the length is not limited.
	MinLength, MaxLength int
	// Count is the number of strings to find. The default is 1.
	Count int
	// Steps limits the work, in steps of a pattern. The default is DefaultSteps.
	Steps int
}

// DefaultSteps is a step limit that takes a few milliseconds.
const DefaultSteps = 200_000

// Found is the result of Find.
type Found struct {
	// Texts are the strings found, without duplicates, the shortest first.
	Texts []string
	// Complete is set if no other strings exist within the limits. If Texts is empty too, that is a
	// proof. Complete is false if Count strings were found or the steps were used up.
	Complete bool
	// Spent is the number of steps used.
	Spent int
}

// A searchNode is a node of the search: the states of all patterns after a string, and the index of the
// previous node and the letter that led here.
type searchNode struct {
	states []int
	length int
	from   int
	letter rune
}

// Find searches for strings in the language. It is deterministic.
func (l *Language) Find(s Search) Found {
	f := newFinder(l, s)
	f.find()
	f.found.Spent = f.spent()
	return f.found
}

func (f *finder) find() {
	f.visit(searchNode{states: f.begin(), from: -1})
	for at := 0; at < len(f.nodes); at++ {
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

// Contains reports whether text is in the language.
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
	nodes    []searchNode
	// seen counts the visits of each tuple. Count visits are enough to find Count strings, if they
	// exist.
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

// expand visits the successors of a node by each class of code points.
func (f *finder) expand(at int) {
	p := f.nodes[at]
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
			f.visit(searchNode{states, p.length + 1, at, letter})
		}
	}
}

// visit adds a new node from which a match may be reachable, and records its string if it matches.
// Lengths above MinLength are not distinguished.
func (f *finder) visit(p searchNode) {
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
	f.nodes = append(f.nodes, p)
	if p.length >= f.search.MinLength && f.accepts(p.states) {
		f.found.Texts = append(f.found.Texts, f.text(len(f.nodes)-1))
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

// text returns the string that leads to a node.
func (f *finder) text(at int) string {
	var runes []rune
	for ; f.nodes[at].from >= 0; at = f.nodes[at].from {
		runes = append(runes, f.nodes[at].letter)
	}
	slices.Reverse(runes)
	return string(runes)
}
