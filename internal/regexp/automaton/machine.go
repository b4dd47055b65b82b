package automaton

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A machine is the lazy deterministic automaton of a pattern. A state is the set of instructions
// that the pattern can be at before the next code point. If the pattern has anchors or word
// boundaries, it also includes the kind of the last code point.
type machine struct {
	prog         *syntax.Prog
	hasAssertion bool
	anchored     bool // matches only at the beginning
	alphabet     alphabet

	states []state
	index  map[string]int
	// spent is the work so far, in visited instructions.
	spent int
	mark  []int
	round int
	// Scratch memory. stack holds the result of follow.
	stack, todo, pcs []uint32
	key              []byte
}

type state struct {
	pcs     []uint32 // sorted, before following empty instructions
	last    rune     // -1 at the beginning; always 0 if hasAssertion is not set
	known   truth
	next    []int // by class; 0 if not computed, otherwise the state plus 1
	atEnd   bool  // whether the pattern matches if the text ends here
	hasEnds bool
}

// matched is the state after a match. It is final, because a pattern may match anywhere.
const matched = 0

func newMachine(prog *syntax.Prog, a alphabet) *machine {
	m := &machine{prog: prog, alphabet: a, index: map[string]int{}, mark: make([]int, len(prog.Inst))}
	for i := range prog.Inst {
		m.hasAssertion = m.hasAssertion || prog.Inst[i].Op == syntax.InstEmptyWidth
	}
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	m.states = []state{{known: always, atEnd: true, hasEnds: true}}
	return m
}

func (m *machine) begin() int {
	return m.state([]uint32{uint32(m.prog.Start)}, -1)
}

func (m *machine) state(pcs []uint32, last rune) int {
	if !m.hasAssertion {
		last = 0
	}
	m.key = binary.AppendVarint(m.key[:0], int64(last))
	for _, pc := range pcs {
		m.key = binary.LittleEndian.AppendUint32(m.key, pc)
	}
	if i, ok := m.index[string(m.key)]; ok {
		return i
	}
	s := state{pcs: slices.Clone(pcs), last: last, next: make([]int, len(m.alphabet))}
	if len(pcs) == 0 {
		s.known = never
	}
	m.states = append(m.states, s)
	m.index[string(m.key)] = len(m.states) - 1
	return len(m.states) - 1
}

func (m *machine) step(from, class int) int {
	if m.states[from].known != unknown {
		return from
	}
	if known := m.states[from].next[class]; known > 0 {
		return known - 1
	}
	to := m.walk(from, m.alphabet[class].shown)
	m.states[from].next[class] = to + 1
	return to
}

func (m *machine) walk(from int, r rune) int {
	s := m.states[from]
	if m.follow(s.pcs, syntax.EmptyOpContext(s.last, r)) {
		return matched
	}
	m.pcs = m.pcs[:0]
	for _, pc := range m.stack {
		if in := &m.prog.Inst[pc]; in.MatchRune(r) {
			m.pcs = append(m.pcs, in.Out)
		}
	}
	if !m.anchored {
		m.pcs = append(m.pcs, uint32(m.prog.Start)) // a match can begin anywhere
	}
	slices.Sort(m.pcs)
	return m.state(slices.Compact(m.pcs), kind(r))
}

// kind returns a representative code point that anchors and boundaries do not distinguish from r.
func kind(r rune) rune {
	switch {
	case r == '\n':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

func (m *machine) ends(at int) bool {
	s := &m.states[at]
	if !s.hasEnds {
		s.hasEnds, s.atEnd = true, m.follow(s.pcs, syntax.EmptyOpContext(s.last, -1))
	}
	return s.atEnd
}

// follow follows the instructions that consume no code point and collects the others in m.stack. It
// reports whether the pattern matches.
func (m *machine) follow(pcs []uint32, context syntax.EmptyOp) (match bool) {
	m.round++
	m.stack = m.stack[:0]
	m.todo = append(m.todo[:0], pcs...)
	for len(m.todo) > 0 {
		pc := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if m.mark[pc] == m.round {
			continue
		}
		m.mark[pc] = m.round
		m.spent++
		switch in := &m.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.todo = append(m.todo, in.Out, in.Arg)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^context == 0 {
				m.todo = append(m.todo, in.Out)
			}
		case syntax.InstNop, syntax.InstCapture:
			m.todo = append(m.todo, in.Out)
		case syntax.InstFail:
		default:
			m.stack = append(m.stack, pc)
		}
	}
	return false
}

// A Table is a pattern compiled to a complete automaton for ASCII. It needs a lookup per byte,
// while Go's engine tracks all ways of matching. It is immutable.
type Table struct {
	classes [utf8.RuneSelf]uint8 // of bytes
	width   int                  // number of classes
	next    []uint8              // by state and class
	matches []bool               // by state, at the end of the text
	start   uint8
}

// Limits for a table: the number of states, which must fit in a byte; the size of next; and the
// steps to construct it, so that this takes no longer than matching many strings.
const (
	maxTable      = 255
	maxTableSize  = 8 << 10
	maxTableSteps = 20_000
)

// Table returns the table of a language, or nil if the language is not a single small pattern.
func (l *Language) Table() *Table {
	if l.op != leaf {
		return nil
	}
	m := newMachine(l.pattern, newAlphabet(l.leaves(nil)))
	t := &Table{start: uint8(m.begin())}
	ascii := t.classify(m.alphabet)
	for at := 0; at < len(m.states); at++ {
		for _, class := range ascii {
			to := m.step(at, class)
			if len(m.states) > maxTable || len(t.next) == maxTableSize || m.spent > maxTableSteps {
				return nil
			}
			t.next = append(t.next, uint8(to))
		}
		t.matches = append(t.matches, m.ends(at))
	}
	return t
}

func (t *Table) classify(a alphabet) (ascii []int) {
	for i, class := range a {
		if class.from >= utf8.RuneSelf {
			continue
		}
		for r := class.from; r <= class.to && r < utf8.RuneSelf; r++ {
			t.classes[r] = uint8(len(ascii))
		}
		ascii = append(ascii, i)
	}
	t.width = len(ascii)
	return ascii
}

// Matches reports whether the pattern matches text. ok is false if text is not ASCII.
func (t *Table) Matches(text string) (matches, ok bool) {
	at := int(t.start)
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return false, false
		}
		at = int(t.next[at*t.width+int(t.classes[c])])
	}
	return t.matches[at], true
}
