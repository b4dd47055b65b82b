package vet

import (
	"cmp"
	"maps"
	"math"
	"slices"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
)

// Advice is a bound to set in the schema.
type Advice struct {
	// Path is the path of the value to bound, such as "spec.hosts[*]".
	Path string `json:"path"`
	// Set is maxLength, maxItems, or maxProperties. Value is the bound to set.
	Set   string `json:"set"`
	Value int64  `json:"value"`
	// Now is the current bound, or 0 if it is not set.
	Now int64 `json:"now,omitempty"`
	// Field is the path of the value's schema in the CRD.
	Field string `json:"-"`
}

// An advisor searches for a small set of bounds that brings the rules of a schema under their limits, and for large
// round values of these bounds. No formula computes them: the advisor repeats the estimate for each choice.
type advisor struct {
	perRule, perSchema uint64
	rules              []*rule
	// others are the other versions whose estimates must fit.
	others []*reestimator
	byPath map[string]*bound
	ofRule map[*rule]*dependence
	prices map[string]price
}

func (a *admission) newAdvisor(u *unit) *advisor {
	ad := &advisor{
		perRule:   uint64(a.limits.EstimatedPerRule),
		perSchema: uint64(a.limits.EstimatedPerCRD),
		others:    a.others(),
		byPath:    map[string]*bound{},
		ofRule:    map[*rule]*dependence{},
		prices:    map[string]price{},
	}
	if a.exempt(u) {
		ad.perRule = math.MaxUint64
	}
	for _, r := range u.rules {
		if r.expr.accepted() {
			ad.rules = append(ad.rules, r)
		}
	}
	return ad
}

type floor struct{ items, length int64 }

// Values that leave room for real objects come first.
var floors = [...]floor{{16, 64}, {4, 16}, {1, 1}}

func (f floor) of(b *bound) int64 {
	v := f.items
	if b.keyword == "maxLength" {
		v = f.length
	}
	if !b.missing() {
		v = min(v, b.declared)
	}
	return max(v, b.minimum)
}

// advise returns the bounds to set, or nil if no bounds are needed or none suffice. stuck holds the rules that no
// bounds can bring under the limit, which set ignores. If the other rules cannot be brought under the limits
// together, stuck also holds the most expensive of them.
func (ad *advisor) advise() (set values, stuck []*rule) {
	for _, r := range ad.overLimit() {
		if ad.exceedsRuleLimit(ad.least(r)) {
			stuck = append(stuck, r)
		}
	}
	ad.rules = slices.DeleteFunc(ad.rules, func(r *rule) bool { return slices.Contains(stuck, r) })
	set, ok := ad.improve()
	if !ok {
		stuck = append(stuck, ad.overLimit()...)
	}
	return set, stuck
}

func (ad *advisor) least(r *rule) price {
	minimums := values{}
	for _, b := range ad.of(r).all {
		minimums[b] = b.minimum
	}
	return ad.price(r, minimums)
}

func (ad *advisor) improve() (set values, ok bool) {
	missing, declared := ad.candidates()
	if len(missing)+len(declared) == 0 {
		return nil, ad.overLimit() == nil
	}
	for _, list := range [][]*bound{missing, slices.Concat(missing, declared)} {
		for _, f := range floors {
			minimums := values{}
			for _, b := range list {
				minimums[b] = f.of(b)
			}
			if ad.fits(minimums) {
				return ad.choose(minimums, list), true
			}
		}
	}
	return nil, false
}

// overLimit returns the rules that exceed a limit. If the sum exceeds the limit of the schema, it also returns the
// most expensive rules: all cheaper rules together cost at most a tenth of that limit.
func (ad *advisor) overLimit() (exceeding []*rule) {
	costs := make([]uint64, len(ad.rules))
	for i, r := range ad.rules {
		costs[i] = ad.price(r, nil).all()
	}
	slices.Sort(costs)
	sum, threshold := uint64(0), uint64(math.MaxUint64)
	for _, c := range costs {
		if sum = cost.Add(sum, c); sum > ad.perSchema/10 {
			threshold = min(threshold, c)
		}
	}
	if sum <= ad.perSchema {
		threshold = math.MaxUint64
	}
	for _, r := range ad.rules {
		if p := ad.price(r, nil); ad.exceedsRuleLimit(p) || p.all() >= threshold {
			exceeding = append(exceeding, r)
		}
	}
	return exceeding
}

func (ad *advisor) candidates() (missing, declared []*bound) {
	uses := map[*bound]int{}
	for _, r := range ad.overLimit() {
		for _, b := range ad.of(r).all {
			uses[b]++
		}
	}
	for _, b := range slices.SortedFunc(maps.Keys(uses), func(x, y *bound) int {
		return cmp.Or(cmp.Compare(uses[y], uses[x]), cmp.Compare(x.path, y.path), cmp.Compare(x.keyword, y.keyword))
	}) {
		if b.missing() {
			missing = append(missing, b)
		} else if b.declared > 1 {
			declared = append(declared, b)
		}
	}
	return missing, declared
}

func (ad *advisor) fits(set values) bool {
	var sum uint64
	for _, r := range ad.rules {
		p := ad.price(r, set)
		if sum = cost.Add(sum, p.all()); ad.exceedsRuleLimit(p) {
			return false
		}
	}
	return sum <= ad.perSchema
}

func (ad *advisor) exceedsRuleLimit(p price) bool {
	return p.total > ad.perRule || p.message > ad.perRule
}

const maxPairBounds = 24

// choose selects few bounds of list that suffice at their minimums, and raises them. Of single bounds, it selects the
// bound that can be raised most; of pairs, the first.
func (ad *advisor) choose(minimums values, list []*bound) (best values) {
	raised := 0.0
	for _, b := range list {
		if set := (values{b: minimums[b]}); ad.fits(set) {
			ad.raise(set)
			if by := float64(set[b]) / float64(minimums[b]); by > raised {
				best, raised = set, by
			}
		}
	}
	if best != nil {
		return best
	}
	for i, b := range list {
		if len(list) > maxPairBounds {
			break
		}
		for _, c := range list[i+1:] {
			if set := (values{b: minimums[b], c: minimums[c]}); ad.fits(set) {
				return ad.raise(set)
			}
		}
	}
	set := maps.Clone(minimums)
	for _, b := range slices.Backward(list) {
		if delete(set, b); !ad.fits(set) {
			set[b] = minimums[b]
		}
	}
	return ad.raise(set)
}

// raise modifies set.
func (ad *advisor) raise(set values) values {
	list := slices.SortedFunc(maps.Keys(set), func(x, y *bound) int { return cmp.Compare(x.path, y.path) })
	for len(list) > 0 {
		list = slices.DeleteFunc(list, func(b *bound) bool {
			now := set[b]
			next := roundUp(now)
			if !b.missing() && next >= b.declared || next*b.bytes > celconfig.MaxRequestSizeBytes {
				return true
			}
			if set[b] = next; ad.fits(set) {
				return false
			}
			set[b] = now
			return true
		})
	}
	return set
}

// Round numbers are powers of two, and 1, 2, or 5 times a power of ten.
func roundUp(v int64) int64 {
	next := int64(1)
	for next <= v {
		next *= 2
	}
	for ten := int64(1); ten <= next; ten *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			if n := digit * ten; n > v && n < next {
				next = n
			}
		}
	}
	return next
}

func (set values) list() []Advice {
	var out []Advice
	for b, v := range set {
		out = append(out, Advice{Path: b.path, Set: b.keyword, Value: v, Now: b.declared, Field: b.field})
	}
	slices.SortFunc(out, func(x, y Advice) int { return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Set, y.Set)) })
	return out
}
