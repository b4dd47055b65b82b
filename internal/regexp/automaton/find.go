package automaton

import (
	"encoding/binary"
	"math"
	"regexp/syntax"
	"slices"
	"unicode"
)

// Search describes the wanted strings. The zero value requests the shortest string.
type Search struct {
	// MinLength and MaxLength limit the length of the strings in code points. If MaxLength is 0,
	// the length is not limited.
	MinLength, MaxLength int
	// Count is the number of strings to find. The default is 1.
	Count int
	// Steps limits the work, which is about the number of visited instructions of the patterns. The default is DefaultSteps.
	Steps int
}

// DefaultSteps is the default of Search.Steps.
const DefaultSteps = 200_000

// Found is the result of Find.
type Found struct {
	// Texts holds the strings found, without duplicates, the shortest first.
	Texts []string
	// Complete is set if no other strings exist within the limits. If Texts is also empty, that is a
	// proof. Complete is false if Count strings were found or the steps were used up.
	Complete bool
	// Spent is the number of steps used.
	Spent int
}

// A searchNode is a node of the search: the position after a string, and the index of the previous node
// and the letter that led here.
type searchNode struct {
	position, from, length int32
	letter                 rune
}

// A position is a tuple of states, one for each pattern.
type position struct {
	states []int
	value  truth
	ends   truth // whether a string may end here; unknown before it is needed
	// visits counts the visits after strings of length code points. Lengths above MinLength are not
	// distinguished, and the length of visited strings never decreases.
	visits int
	length int32
	next   []int32 // by class; 0 if not computed, otherwise the position plus 1
}

// Find searches for strings in the language. It is deterministic.
func (l *Language) Find(s Search) Found {
	f := newFinder(l, s)
	f.find()
	f.found.Spent = f.spent()
	return f.found
}

func (f *finder) find() {
	f.visit(searchNode{position: f.begin(), from: -1})
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
	language  *Language
	search    Search
	alphabet  alphabet
	letters   [][]rune // by class
	machines  []*machine
	positions []position
	index     map[string]int32 // of positions, by key
	nodes     []searchNode
	found     Found
	steps     int
	leaves    []truth
	states    []int
	key       []byte
}

func newFinder(l *Language, s Search) *finder {
	if s.Steps == 0 {
		s.Steps = DefaultSteps
	}
	s.Count = max(s.Count, 1)
	patterns := l.leaves(nil)
	f := &finder{
		language: l, search: s, alphabet: newAlphabet(patterns), index: map[string]int32{},
		leaves: make([]truth, len(patterns)), states: make([]int, len(patterns)),
	}
	for _, class := range f.alphabet {
		f.letters = append(f.letters, class.letters(s.Count))
	}
	for _, p := range patterns {
		f.machines = append(f.machines, newMachine(p, f.alphabet))
	}
	return f
}

func (f *finder) begin() int32 {
	for i, m := range f.machines {
		f.states[i] = m.begin()
	}
	return f.position()
}

func (f *finder) position() int32 {
	f.key = f.key[:0]
	for _, s := range f.states {
		f.key = binary.AppendUvarint(f.key, uint64(s))
	}
	if i, ok := f.index[string(f.key)]; ok {
		return i
	}
	for i, m := range f.machines {
		f.leaves[i] = m.states[f.states[i]].known
	}
	v, _ := f.language.value(f.leaves, 0)
	i := int32(len(f.positions))
	f.positions = append(f.positions, position{states: slices.Clone(f.states), value: v})
	f.index[string(f.key)] = i
	return i
}

func (f *finder) step(from int32, class int) int32 {
	p := &f.positions[from]
	if p.next == nil {
		p.next = make([]int32, len(f.alphabet))
	}
	if known := p.next[class]; known > 0 {
		return known - 1
	}
	for i, m := range f.machines {
		f.states[i] = m.step(p.states[i], class)
	}
	to := f.position()
	f.positions[from].next[class] = to + 1
	return to
}

func (f *finder) enough() bool { return len(f.found.Texts) == f.search.Count }

func (f *finder) spent() int {
	n := f.steps
	for _, m := range f.machines {
		n += m.spent
	}
	return n
}

func (f *finder) expand(at int) {
	p := f.nodes[at]
	if f.search.MaxLength > 0 && int(p.length) == f.search.MaxLength {
		return
	}
	for class, letters := range f.letters {
		to := f.step(p.position, class)
		for _, letter := range letters {
			f.steps += 1 + len(f.machines)
			if f.enough() || f.spent() > f.search.Steps {
				return
			}
			f.visit(searchNode{to, int32(at), p.length + 1, letter})
		}
	}
}

// visit adds a new node from which a match may be reachable, and records its string if it matches. Count
// visits of a position are enough to find Count strings, if they exist.
func (f *finder) visit(n searchNode) {
	p := &f.positions[n.position]
	if p.value == never {
		return
	}
	if length := min(n.length, int32(min(f.search.MinLength, math.MaxInt32))); p.length != length {
		p.length, p.visits = length, 0
	}
	if p.visits == f.search.Count {
		return
	}
	p.visits++
	f.nodes = append(f.nodes, n)
	if int(n.length) >= f.search.MinLength && f.accepts(p) {
		f.found.Texts = append(f.found.Texts, f.text(len(f.nodes)-1))
	}
}

func (f *finder) accepts(p *position) bool {
	if p.ends == unknown {
		for i, m := range f.machines {
			f.leaves[i] = never
			if m.ends(p.states[i]) {
				f.leaves[i] = always
			}
		}
		p.ends, _ = f.language.value(f.leaves, 0)
	}
	return p.ends == always
}

func (f *finder) text(at int) string {
	var runes []rune
	for n := f.nodes[at]; n.from >= 0; n = f.nodes[n.from] {
		runes = append(runes, n.letter)
	}
	slices.Reverse(runes)
	return string(runes)
}

// An alphabet divides the code points into classes that no pattern distinguishes.
type alphabet []class

type class struct{ from, to, shown rune }

const (
	surrogates, behindSurrogates = 0xd800, 0xe000
	pastLastRune                 = unicode.MaxRune + 1
)

// newAlphabet returns the classes of the patterns. Common characters are first, so that the first
// strings found look natural.
func newAlphabet(patterns []*syntax.Prog) alphabet {
	cuts := []rune{0, surrogates, behindSurrogates, pastLastRune}
	for _, p := range patterns {
		for i := range p.Inst {
			cuts = appendCuts(cuts, &p.Inst[i])
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var a alphabet
	for i, from := range cuts[:len(cuts)-1] {
		if from != surrogates { // no string contains these
			a = append(a, class{from, cuts[i+1] - 1, preferredRune(from, cuts[i+1]-1)})
		}
	}
	slices.SortStableFunc(a, func(x, y class) int { return rank(x.shown) - rank(y.shown) })
	return a
}

// appendCuts appends the code points where a class must begin because of an instruction.
func appendCuts(cuts []rune, in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAnyNotNL:
		return append(cuts, '\n', '\n'+1)
	case syntax.InstEmptyWidth: // depends on line breaks and words
		return append(cuts, '\n', '\n'+1, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	case syntax.InstRune, syntax.InstRune1:
		if len(in.Rune) == 1 {
			return appendFolded(cuts, in)
		}
		for i := 0; i+1 < len(in.Rune); i += 2 {
			cuts = append(cuts, in.Rune[i], in.Rune[i+1]+1)
		}
	}
	return cuts
}

func appendFolded(cuts []rune, in *syntax.Inst) []rune {
	r := in.Rune[0]
	cuts = append(cuts, r, r+1)
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			cuts = append(cuts, f, f+1)
		}
	}
	return cuts
}

func (c class) letters(n int) []rune {
	size := int(c.to - c.from + 1)
	letters := make([]rune, min(n, size))
	for i := range letters {
		letters[i] = c.from + (c.shown-c.from+rune(i))%rune(size)
	}
	return letters
}

// preferredRanges are the ranges from which representatives are chosen, in order of preference.
var preferredRanges = [][2]rune{{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'-', '-'}, {'.', '.'}, {'_', '_'}, {' ', '~'}, {0xc0, 0x24f}, {0x20ac, 0x20ac}, {'\n', '\n'}}

func preferredRune(from, to rune) rune {
	for _, nice := range preferredRanges {
		if lo, hi := max(from, nice[0]), min(to, nice[1]); lo <= hi {
			return lo
		}
	}
	return from
}

func rank(r rune) int {
	for i, nice := range preferredRanges {
		if nice[0] <= r && r <= nice[1] {
			return i
		}
	}
	return len(preferredRanges)
}
