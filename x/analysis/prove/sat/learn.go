package sat

import (
	"container/heap"
	"slices"
)

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
	s.order.decay()
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
			s.order.bump(v)
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

// An order is a heap of variables, ordered by their recent number of conflicts.
type order struct {
	heap   []int
	index  []int // of a variable in the heap; -1 if it is not in it
	weight []float64
	step   float64
}

func (o *order) Len() int { return len(o.heap) }

// Less breaks ties by number, so that results do not depend on chance.
func (o *order) Less(i, j int) bool {
	a, b := o.heap[i], o.heap[j]
	return o.weight[a] > o.weight[b] || o.weight[a] == o.weight[b] && a < b
}

func (o *order) Swap(i, j int) {
	o.heap[i], o.heap[j] = o.heap[j], o.heap[i]
	o.index[o.heap[i]], o.index[o.heap[j]] = i, j
}

func (o *order) Push(v any) {
	o.index[v.(int)] = len(o.heap)
	o.heap = append(o.heap, v.(int))
}

func (o *order) Pop() any {
	last := len(o.heap) - 1
	v := o.heap[last]
	o.heap, o.index[v] = o.heap[:last], -1
	return v
}

func (o *order) add(v int) {
	o.index = append(o.index, -1)
	o.weight = append(o.weight, 0)
	if o.step == 0 {
		o.step = 1
	}
	o.push(v)
}

func (o *order) push(v int) {
	if o.index[v] < 0 {
		heap.Push(o, v)
	}
}

func (o *order) pop() (v int, ok bool) {
	if len(o.heap) == 0 {
		return 0, false
	}
	return heap.Pop(o).(int), true
}

func (o *order) bump(v int) {
	if o.weight[v] += o.step; o.weight[v] > 1e100 {
		for i := range o.weight {
			o.weight[i] *= 1e-100
		}
		o.step *= 1e-100
	}
	if o.index[v] >= 0 {
		heap.Fix(o, o.index[v])
	}
}

func (o *order) decay() { o.step /= 0.95 }
