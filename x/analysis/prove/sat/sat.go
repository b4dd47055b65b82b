// Package sat decides whether a formula in conjunctive normal form is satisfiable.
//
//	s := sat.New()
//	a, b := s.Var(), s.Var()
//	s.Add(a, b)
//	s.Add(a.Not(), b)
//	s.Solve(sat.DefaultSteps, b.Not()) // Unsatisfiable
//	s.Core()                           // b.Not()
//
// Work is counted in steps, not in time, so the same calls always have the same results.
// Existing libraries can only be limited by time, or not at all.
package sat

// How it works. The solver uses conflict-driven clause learning, as in Eén and Sörensson, An
// Extensible SAT-solver (2003): two watched literals per clause, learning up to the first unique
// implication point, and decisions in the order of the variables, each with its latest value. The core
// consists of the assumptions that are responsible for the final conflict.

import "slices"

// A Lit is a variable or its negation.
type Lit int

// Not returns the negation of a literal.
func (l Lit) Not() Lit { return l ^ 1 }

func (l Lit) variable() int { return int(l >> 1) }

// An Answer is the result of Solve.
type Answer uint8

// The results of Solve.
const (
	// Unknown means that the step limit was reached.
	Unknown Answer = iota
	Satisfiable
	Unsatisfiable
)

// DefaultSteps is the step limit of package prove.
const DefaultSteps = 1_000_000

type value int8

const (
	free value = iota
	isTrue
	isFalse
)

// A clause is watched through its first two literals.
type clause struct{ lits []Lit }

// A Solver holds clauses. It is not safe for concurrent use.
type Solver struct {
	watches [][]*clause // by the literal that makes a watched literal false
	values  []value     // by literal
	level   []int       // by variable
	reason  []*clause   // by variable; nil for decisions and clauses with one literal
	phase   []bool      // by variable: its latest value

	trail  []Lit
	limits []int // start of each level in trail
	head   int   // trail before head has been propagated

	next    int // variables before it have values
	seen    []bool
	broken  bool // the clauses alone are unsatisfiable
	model   []value
	core    []Lit
	steps   int // steps left
	allowed int

	sorted []Lit // scratch memory of Add
}

// New returns a solver without clauses.
func New() *Solver { return &Solver{} }

// Var returns a new variable.
func (s *Solver) Var() Lit {
	v := len(s.level)
	s.watches = append(s.watches, nil, nil)
	s.values = append(s.values, free, free)
	s.level = append(s.level, 0)
	s.reason = append(s.reason, nil)
	s.phase = append(s.phase, false)
	s.seen = append(s.seen, false)
	return Lit(2 * v)
}

// Add adds a clause: at least one of the literals must be true.
func (s *Solver) Add(lits ...Lit) {
	s.cancel(0)
	s.sorted = append(s.sorted[:0], lits...)
	slices.Sort(s.sorted)
	kept := slices.Compact(s.sorted)
	kept = slices.DeleteFunc(kept, func(l Lit) bool { return s.values[l] == isFalse })
	for i, l := range kept {
		if s.values[l] == isTrue || i > 0 && kept[i-1] == l.Not() {
			return
		}
	}
	switch len(kept) {
	case 0:
		s.broken = true
	case 1:
		s.assign(kept[0], nil)
		s.broken = s.broken || s.propagate() != nil
	default:
		s.watch(&clause{lits: slices.Clone(kept)})
	}
}

func (s *Solver) watch(c *clause) {
	for _, l := range c.lits[:2] {
		s.watches[l.Not()] = append(s.watches[l.Not()], c)
	}
}

// Solve decides whether all clauses and assumptions can be true together. It returns Unknown if it needs more than
// about the given number of steps.
func (s *Solver) Solve(steps int, assumptions ...Lit) Answer {
	s.cancel(0)
	s.core, s.model, s.steps, s.allowed = nil, nil, steps, steps
	defer s.cancel(0)
	for !s.broken {
		conflict := s.propagate()
		if s.steps < 0 {
			return Unknown
		}
		if conflict != nil {
			if s.broken = len(s.limits) == 0; !s.broken {
				s.learn(conflict)
			}
			continue
		}
		switch next, ok := s.decide(assumptions); {
		case !ok:
			return Unsatisfiable
		case next < 0:
			s.model = slices.Clone(s.values)
			return Satisfiable
		default:
			s.limits = append(s.limits, len(s.trail))
			s.assign(next, nil)
		}
	}
	return Unsatisfiable
}

// decide returns the next literal to try, assumptions first. next is negative if all variables have
// values. ok is false if an assumption cannot be true.
func (s *Solver) decide(assumptions []Lit) (next Lit, ok bool) {
	for len(s.limits) < len(assumptions) {
		l := assumptions[len(s.limits)]
		switch s.values[l] {
		case isFalse:
			s.core = s.because(l)
			return 0, false
		case isTrue:
			s.limits = append(s.limits, len(s.trail)) // each assumption has a level
		default:
			return l, true
		}
	}
	for ; s.next < len(s.level); s.next++ {
		s.steps--
		if l := Lit(2 * s.next); s.values[l] == free {
			if !s.phase[s.next] {
				l = l.Not()
			}
			return l, true
		}
	}
	return -1, true
}

// Spent returns the steps that the last Solve took.
func (s *Solver) Spent() int { return s.allowed - s.steps }

// Core returns assumptions that cannot be true together with the clauses. It is valid after
// Unsatisfiable.
func (s *Solver) Core() []Lit { return s.core }

// True reports whether a literal is true in the example of the last Solve, which must have returned
// Satisfiable.
func (s *Solver) True(l Lit) bool { return s.model[l] == isTrue }

func (s *Solver) assign(l Lit, why *clause) {
	if s.values[l] != free {
		return
	}
	v := l.variable()
	s.values[l], s.values[l.Not()] = isTrue, isFalse
	s.level[v], s.reason[v], s.phase[v] = len(s.limits), why, l&1 == 0
	s.trail = append(s.trail, l)
}

func (s *Solver) cancel(level int) {
	if len(s.limits) <= level {
		return
	}
	from := s.limits[level]
	for _, l := range s.trail[from:] {
		s.values[l], s.values[l.Not()] = free, free
		s.next = min(s.next, l.variable())
	}
	s.trail, s.limits = s.trail[:from], s.limits[:level]
	s.head = min(s.head, from)
}

// propagate assigns all implied literals. It returns a clause that is false, or nil.
func (s *Solver) propagate() *clause {
	for s.head < len(s.trail) {
		l := s.trail[s.head]
		s.head++
		waiting := s.watches[l]
		kept := waiting[:0]
		for i, c := range waiting {
			s.steps--
			if s.moves(c, l.Not()) {
				continue
			}
			kept = append(kept, c)
			if s.values[c.lits[0]] == isFalse {
				s.watches[l] = append(kept, waiting[i+1:]...)
				s.head = len(s.trail)
				return c
			}
			s.assign(c.lits[0], c)
		}
		s.watches[l] = kept
	}
	return nil
}

// moves watches another literal of a clause instead of one that became false, and reports whether
// it found one. If not, only the clause's first literal can be true.
func (s *Solver) moves(c *clause, falsified Lit) bool {
	if c.lits[0] == falsified {
		c.lits[0], c.lits[1] = c.lits[1], c.lits[0]
	}
	if s.values[c.lits[0]] == isTrue {
		return false
	}
	for i := 2; i < len(c.lits); i++ {
		if s.values[c.lits[i]] != isFalse {
			c.lits[1], c.lits[i] = c.lits[i], c.lits[1]
			s.watches[c.lits[1].Not()] = append(s.watches[c.lits[1].Not()], c)
			return true
		}
	}
	return false
}
