package vet

import (
	"math/bits"

	"github.com/celadon-cel/celadon/cost"
)

// trial is a choice of bounds with the resulting costs of all rules. Setting a bound estimates only
// the rules that depend on it.
type trial struct {
	ad        *advisor
	set       values
	prices    map[*rule]price
	sum       wide
	overLimit int // rules that pass the limit of a single rule
}

func (ad *advisor) newTrial(set values) *trial {
	t := &trial{ad: ad, set: values{}, prices: make(map[*rule]price, len(ad.rules))}
	for b, v := range set {
		t.set[b] = v
	}
	for _, r := range ad.rules {
		t.enter(r)
	}
	return t
}

func (t *trial) enter(r *rule) {
	p := t.ad.price(r, t.set)
	t.prices[r] = p
	t.sum.add(p.all())
	if t.ad.exceedsRuleLimit(p) {
		t.overLimit++
	}
}

func (t *trial) leave(r *rule) {
	p := t.prices[r]
	t.sum.sub(p.all())
	if t.ad.exceedsRuleLimit(p) {
		t.overLimit--
	}
}

func (t *trial) setBound(b *bound, v int64) {
	t.change(b, func() { t.set[b] = v })
}

func (t *trial) restoreBound(b *bound) {
	t.change(b, func() { delete(t.set, b) })
}

func (t *trial) change(b *bound, do func()) {
	users := t.ad.users[b]
	for _, r := range users {
		t.leave(r)
	}
	do()
	for _, r := range users {
		t.enter(r)
	}
}

// fits reports whether all rules and their sum are within the limits.
func (t *trial) fits() bool { return t.overLimit == 0 && !t.sum.exceeds(t.ad.perSchema) }

func (ad *advisor) exceedsRuleLimit(p price) bool {
	return p.total > ad.perRule || p.message > ad.perRule
}

type price struct{ total, message uint64 }

func (p price) all() uint64 { return cost.Add(p.total, p.message) }

// wide is a 128-bit sum. It does not saturate, so summands can be subtracted again.
type wide struct{ high, low uint64 }

func (w *wide) add(n uint64) {
	var carried uint64
	w.low, carried = bits.Add64(w.low, n, 0)
	w.high += carried
}

func (w *wide) sub(n uint64) {
	var borrow uint64
	w.low, borrow = bits.Sub64(w.low, n, 0)
	w.high -= borrow
}

func (w *wide) exceeds(limit uint64) bool { return w.high > 0 || w.low > limit }
