package prove

import (
	"slices"

	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// cut divides numbers into those less than i or f and the rest. If closed is set, f itself is in
// the lower part.
type cut struct {
	i      int64
	f      float64
	closed bool
}

func (c cut) before(d cut) bool {
	switch {
	case c.i != d.i:
		return c.i < d.i
	case c.f != d.f:
		return c.f < d.f
	}
	return !c.closed && d.closed
}

// order has a literal for each cut, which holds if the number is below the cut. Each literal
// implies the literals of greater cuts. Between any two cuts, there is always a number.
type order struct {
	gates *gates
	cuts  []cut // sorted
	lits  []sat.Lit
}

func newOrder(g *gates) *order { return &order{gates: g} }

func (o *order) less(c cut) sat.Lit {
	at, ok := slices.BinarySearchFunc(o.cuts, c, func(a, b cut) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	if ok {
		return o.lits[at]
	}
	l := o.gates.free()
	o.cuts, o.lits = slices.Insert(o.cuts, at, c), slices.Insert(o.lits, at, l)
	if at > 0 {
		o.gates.implies(l, o.lits[at-1])
	}
	if at+1 < len(o.lits) {
		o.gates.implies(o.lits[at+1], l)
	}
	return l
}

// equal returns a literal that holds if the number equals the integer c.
func (o *order) equal(c int64) sat.Lit {
	low := o.less(cut{i: c}).Not()
	if c == maxInt {
		return low
	}
	return o.gates.both(low, o.less(cut{i: c + 1}))
}
