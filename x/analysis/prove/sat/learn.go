package sat

import "slices"

// learn adds a clause that excludes the cause of a conflict, and backtracks to the level at which
// the clause implies a literal.
func (s *Solver) learn(conflict *clause) {
	lits := s.analyzeConflict(conflict)
	back := 0
	for i := 1; i < len(lits); i++ {
		if l := s.level[lits[i].variable()]; l > back {
			back = l
			lits[1], lits[i] = lits[i], lits[1]
		}
	}
	s.cancel(back)
	if len(lits) == 1 {
		s.assign(lits[0], nil)
		return
	}
	c := &clause{lits: lits}
	s.watch(c)
	s.assign(lits[0], c)
}

// analyzeConflict resolves a false clause with the reasons of its literals until only one literal of the
// current level is left. The result starts with that literal.
func (s *Solver) analyzeConflict(conflict *clause) []Lit {
	lits := []Lit{0}
	open, at := 0, len(s.trail)
	var marked []int
	var last Lit
	for c := conflict; ; c = s.reason[last.variable()] {
		for _, l := range c.lits {
			v := l.variable()
			s.steps--
			if s.seen[v] || s.level[v] == 0 || c != conflict && l == last {
				continue
			}
			s.seen[v] = true
			marked = append(marked, v)
			if s.level[v] == len(s.limits) {
				open++
			} else {
				lits = append(lits, l)
			}
		}
		for at--; !s.seen[s.trail[at].variable()]; at-- {
		}
		last = s.trail[at]
		if open--; open == 0 {
			break
		}
	}
	for _, v := range marked {
		s.seen[v] = false
	}
	lits[0] = last.Not()
	return lits
}

// because returns failed and the assumptions that make it false. All decisions must be assumptions.
func (s *Solver) because(failed Lit) []Lit {
	core := []Lit{failed}
	marked := map[int]bool{failed.variable(): true}
	for i := len(s.trail) - 1; i >= 0; i-- {
		l := s.trail[i]
		v := l.variable()
		if !marked[v] || s.level[v] == 0 {
			continue
		}
		if s.reason[v] == nil {
			if l != failed {
				core = append(core, l)
			}
			continue
		}
		for _, other := range s.reason[v].lits {
			marked[other.variable()] = true
		}
	}
	slices.Sort(core)
	return core
}
