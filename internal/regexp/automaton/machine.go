package automaton

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// machine is the lazy deterministic automaton of one pattern. A state is the
// set of instructions at which the pattern may be before the next code point,
// with what came last, as far as an anchor or a word boundary asks for it.
type machine struct {
	prog     *syntax.Prog
	looks    bool // has an anchor or a boundary
	anchored bool // matches at the beginning only
	alphabet alphabet

	states []state
	index  map[string]int
	// spent is the work so far, in instructions visited.
	spent int
	stack []uint32
	mark  []int
	round int
}

type state struct {
	pcs     []uint32 // sorted; before empty instructions are followed
	last    rune     // -1 at the beginning
	known   truth
	next    []int // by class; 0 is not known yet, else one more than the state
	atEnd   bool  // matches if the text ends here
	hasEnds bool  // atEnd is known
}

// matched is the state behind a match: a pattern that matched anywhere has
// matched the text.
const matched = 0

func newMachine(prog *syntax.Prog, a alphabet) *machine {
	m := &machine{prog: prog, alphabet: a, index: map[string]int{}, mark: make([]int, len(prog.Inst))}
	for i := range prog.Inst {
		m.looks = m.looks || prog.Inst[i].Op == syntax.InstEmptyWidth
	}
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	m.states = []state{{known: always, atEnd: true, hasEnds: true}}
	return m
}

// begin is the state before the first code point.
func (m *machine) begin() int {
	return m.state([]uint32{uint32(m.prog.Start)}, -1)
}

// state is the number of a state.
func (m *machine) state(pcs []uint32, last rune) int {
	if !m.looks {
		last = 0
	}
	key := binary.AppendVarint(nil, int64(last))
	for _, pc := range pcs {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if i, ok := m.index[string(key)]; ok {
		return i
	}
	s := state{pcs: pcs, last: last, next: make([]int, len(m.alphabet))}
	if len(pcs) == 0 {
		s.known = never
	}
	m.states = append(m.states, s)
	m.index[string(key)] = len(m.states) - 1
	return len(m.states) - 1
}

// step is the state behind one more code point, given by its class.
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
	var pcs []uint32
	for _, pc := range m.stack {
		if in := &m.prog.Inst[pc]; in.MatchRune(r) {
			pcs = append(pcs, in.Out)
		}
	}
	if !m.anchored {
		pcs = append(pcs, uint32(m.prog.Start)) // a match may begin anywhere
	}
	slices.Sort(pcs)
	return m.state(slices.Compact(pcs), kind(r))
}

// kind is a code point that anchors and boundaries do not tell from r.
func kind(r rune) rune {
	switch {
	case r == '\n':
		return r
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// ends says whether the pattern has matched when the text ends in a state.
func (m *machine) ends(at int) bool {
	s := &m.states[at]
	if !s.hasEnds {
		s.hasEnds, s.atEnd = true, m.follow(s.pcs, syntax.EmptyOpContext(s.last, -1))
	}
	return s.atEnd
}

// follow goes through the instructions that take no code point, and leaves those
// that do in m.stack. It says whether one of them is the end.
func (m *machine) follow(pcs []uint32, context syntax.EmptyOp) (match bool) {
	m.round++
	m.stack = m.stack[:0]
	todo := slices.Clone(pcs)
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if m.mark[pc] == m.round {
			continue
		}
		m.mark[pc] = m.round
		m.spent++
		switch in := &m.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, in.Out, in.Arg)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^context == 0 {
				todo = append(todo, in.Out)
			}
		case syntax.InstNop, syntax.InstCapture:
			todo = append(todo, in.Out)
		case syntax.InstFail:
		default:
			m.stack = append(m.stack, pc)
		}
	}
	return false
}
