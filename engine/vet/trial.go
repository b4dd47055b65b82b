package vet

import (
	"maps"

	"github.com/celadon-cel/celadon/cost"
)

// trial is a choice of bounds with the resulting costs of all rules. Setting a bound estimates only
// the rules that depend on it.
type trial struct {
	ad     *advisor
	set    values
	prices map[*rule]price
}

func (ad *advisor) newTrial(set values) *trial {
	t := &trial{ad: ad, set: values{}, prices: make(map[*rule]price, len(ad.rules))}
	maps.Copy(t.set, set)
	t.estimate(ad.rules)
	return t
}

func (t *trial) estimate(rules []*rule) {
	for _, r := range rules {
		t.prices[r] = t.ad.price(r, t.set)
	}
}

func (t *trial) setBound(b *bound, v int64) {
	t.set[b] = v
	t.estimate(t.ad.users[b])
}

func (t *trial) restoreBound(b *bound) {
	delete(t.set, b)
	t.estimate(t.ad.users[b])
}

func (t *trial) fits() bool {
	var sum uint64
	for _, p := range t.prices {
		if sum = cost.Add(sum, p.all()); t.ad.exceedsRuleLimit(p) {
			return false
		}
	}
	return sum <= t.ad.perSchema
}

func (ad *advisor) exceedsRuleLimit(p price) bool {
	return p.total > ad.perRule || p.message > ad.perRule
}

type price struct{ total, message uint64 }

func (p price) all() uint64 { return cost.Add(p.total, p.message) }
