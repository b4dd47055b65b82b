package sat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type formula struct {
	n       int
	clauses [][]Lit
}

func (f *formula) solver() *Solver {
	s := New()
	for range f.n {
		s.Var()
	}
	for _, c := range f.clauses {
		s.Add(c...)
	}
	return s
}

// Bit v of assignment is the value of variable v.
func (f *formula) holds(assignment int, more ...Lit) bool {
	is := func(l Lit) bool { return (assignment>>l.variable()&1 == 1) == (l&1 == 0) }
	for _, c := range f.clauses {
		some := false
		for _, l := range c {
			some = some || is(l)
		}
		if !some {
			return false
		}
	}
	for _, l := range more {
		if !is(l) {
			return false
		}
	}
	return true
}

func (f *formula) possible(more ...Lit) bool {
	for assignment := range 1 << f.n {
		if f.holds(assignment, more...) {
			return true
		}
	}
	return false
}

func made(seed uint64) (*formula, []Lit) {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &formula{n: 1 + r.IntN(10)}
	lit := func() Lit { return Lit(r.IntN(2 * f.n)) }
	for range r.IntN(6 * f.n) {
		var c []Lit
		for range r.IntN(4) + min(r.IntN(8), 1) {
			c = append(c, lit())
		}
		f.clauses = append(f.clauses, c)
	}
	var assumptions []Lit
	for range r.IntN(4) {
		assumptions = append(assumptions, lit())
	}
	return f, assumptions
}

func TestSolve(t *testing.T) {
	t.Parallel()
	count := map[Answer]int{}
	for seed := range uint64(4000) {
		f, assumptions := made(seed)
		s := f.solver()
		for _, assumed := range [][]Lit{assumptions, nil, assumptions} {
			count[hold(t, seed, f, s, assumed)]++
		}
		extra := Lit(seed % uint64(2*f.n))
		f.clauses = append(f.clauses, []Lit{extra})
		s.Add(extra)
		hold(t, seed, f, s, assumptions)
	}
	if count[Satisfiable] < 1000 || count[Unsatisfiable] < 1000 || count[Unknown] > 0 {
		t.Errorf("answers %v", count)
	}
}

func hold(t *testing.T, seed uint64, f *formula, s *Solver, assumptions []Lit) Answer {
	t.Helper()
	answer := s.Solve(DefaultSteps, assumptions...)
	if got, want := answer == Satisfiable, f.possible(assumptions...); got != want {
		t.Fatalf("seed %d: satisfiable %v, want %v", seed, got, want)
	}
	if answer == Unsatisfiable {
		if f.possible(s.Core()...) {
			t.Fatalf("seed %d: core %v is possible", seed, s.Core())
		}
		for _, l := range s.Core() {
			if !slices.Contains(assumptions, l) {
				t.Fatalf("seed %d: core %v is not of %v", seed, s.Core(), assumptions)
			}
		}
		return answer
	}
	assignment := 0
	for v := range f.n {
		if s.True(Lit(2 * v)) {
			assignment |= 1 << v
		}
	}
	if !f.holds(assignment, assumptions...) {
		t.Fatalf("seed %d: the example is none", seed)
	}
	return answer
}

// pigeons returns a solver with the clauses that n+1 pigeons sit in n holes, one per hole.
func pigeons(n int) *Solver {
	s := New()
	at := make([][]Lit, n+1)
	for p := range at {
		for range n {
			at[p] = append(at[p], s.Var())
		}
		s.Add(at[p]...)
	}
	for hole := range n {
		for p := range at {
			for other := range p {
				s.Add(at[p][hole].Not(), at[other][hole].Not())
			}
		}
	}
	return s
}

func TestSteps(t *testing.T) {
	t.Parallel()
	if got := pigeons(6).Solve(DefaultSteps); got != Unsatisfiable {
		t.Errorf("6 holes: %v", got)
	}
	hard := pigeons(40)
	for range 2 {
		if got := hard.Solve(100_000); got != Unknown {
			t.Errorf("40 holes: %v", got)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for range b.N {
		pigeons(7).Solve(1 << 40)
	}
}
