package vet

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
)

// Advice is one bound to set in the schema.
type Advice struct {
	// Path is the place of the value to bound, as "spec.hosts[*]".
	Path string
	// Set is maxLength, maxItems or maxProperties, Value what to set it to.
	Set   string
	Value int64
	// Now is the bound that is there; 0 when there is none.
	Now int64
	// Field is the place of the value's schema in the CRD.
	Field string
}

// advisor looks for the fewest bounds with which all rules of a schema fit,
// and for the largest round values of them. It estimates again with each
// choice; there is no formula.
type advisor struct {
	*bounds
	perRule, perSchema uint64
	rules              []*rule // all that the estimates add up
	moving             []*rule // those that a candidate can change
	fixed              uint64  // what the others cost
	fixedFit           bool
	prices             map[string]price
	macroEnvs          map[macroKey]*cel.Env
}

type price struct{ total, message uint64 }

func (p price) all() uint64 { return cost.Add(p.total, p.message) }

func (a *admission) newAdvisor(u *unit) *advisor {
	ad := &advisor{
		bounds:    newBounds(),
		perRule:   uint64(a.limits.EstimatedPerRule),
		perSchema: uint64(a.limits.EstimatedPerCRD),
		prices:    map[string]price{},
		macroEnvs: map[macroKey]*cel.Env{},
	}
	if a.unchanged[u.name] {
		ad.perRule = math.MaxUint64
	}
	for _, r := range u.rules {
		if r.expr != nil && !r.expr.refused {
			ad.rules = append(ad.rules, r)
		}
	}
	return ad
}

// floor is the least value that is tried of a bound.
type floor struct{ items, length int64 }

// floors are first useful values, then any.
var floors = [...]floor{{16, 64}, {4, 16}, {1, 1}}

func (f floor) of(b *bound) int64 {
	v := f.items
	if b.word == "maxLength" {
		v = f.length
	}
	if !b.missing() {
		v = min(v, b.declared)
	}
	return v
}

// advise finds the bounds to set. It is empty when the rules fit already. Rules
// that no bounds make fit are left out: stuck are these, or all that are over
// when only their sum cannot be mended.
func (ad *advisor) advise() (set values, stuck []*rule) {
	for _, r := range ad.over() {
		least := values{}
		for _, b := range ad.of(r).all() {
			least[b] = 1
		}
		if p := ad.price(r, least); p.total > ad.perRule || p.message > ad.perRule {
			stuck = append(stuck, r)
		}
	}
	ad.rules = slices.DeleteFunc(ad.rules, func(r *rule) bool { return slices.Contains(stuck, r) })
	set, ok := ad.mend()
	if !ok {
		stuck = append(stuck, ad.over()...)
	}
	return set, stuck
}

func (ad *advisor) mend() (set values, ok bool) {
	missing, declared := ad.candidates()
	if len(missing)+len(declared) == 0 {
		return nil, ad.over() == nil
	}
	for _, list := range [][]*bound{missing, slices.Concat(missing, declared)} {
		ad.watch(list)
		for _, f := range floors {
			least := values{}
			for _, b := range list {
				least[b] = f.of(b)
			}
			if ad.fits(least) {
				return ad.choose(least, list), true
			}
		}
	}
	return nil, false
}

// over are the rules that pass a limit, and where their sum does the dearest:
// so many that the rest is a small part of the limit.
func (ad *advisor) over() []*rule {
	var sum uint64
	for _, r := range ad.rules {
		sum = cost.Add(sum, ad.price(r, nil).all())
	}
	least := uint64(math.MaxUint64)
	if sum > ad.perSchema {
		least = ad.dear()
	}
	var over []*rule
	for _, r := range ad.rules {
		if p := ad.price(r, nil); p.total > ad.perRule || p.message > ad.perRule || p.all() >= least {
			over = append(over, r)
		}
	}
	return over
}

// dear is the cost from which on rules count: all that cost less make up at
// most a tenth of the limit.
func (ad *advisor) dear() uint64 {
	costs := make([]uint64, len(ad.rules))
	for i, r := range ad.rules {
		costs[i] = ad.price(r, nil).all()
	}
	slices.Sort(costs)
	var rest uint64
	for _, c := range costs {
		if rest = cost.Add(rest, c); rest > ad.perSchema/10 {
			return c
		}
	}
	return math.MaxUint64
}

// candidates are the bounds that those rules depend on, with the most rules
// first.
func (ad *advisor) candidates() (missing, declared []*bound) {
	uses := map[*bound]int{}
	for _, r := range ad.over() {
		for _, b := range ad.of(r).all() {
			uses[b]++
		}
	}
	for _, b := range slices.SortedFunc(maps.Keys(uses), func(x, y *bound) int {
		return cmp.Or(cmp.Compare(uses[y], uses[x]), cmp.Compare(x.path, y.path), cmp.Compare(x.word, y.word))
	}) {
		if b.missing() {
			missing = append(missing, b)
		} else if b.declared > 1 {
			declared = append(declared, b)
		}
	}
	return missing, declared
}

// watch tells apart the rules that a candidate can change.
func (ad *advisor) watch(list []*bound) {
	ad.moving, ad.fixed, ad.fixedFit = nil, 0, true
	for _, r := range ad.rules {
		if slices.ContainsFunc(ad.of(r).all(), func(b *bound) bool { return slices.Contains(list, b) }) {
			ad.moving = append(ad.moving, r)
			continue
		}
		p := ad.price(r, nil)
		ad.fixed = cost.Add(ad.fixed, p.all())
		ad.fixedFit = ad.fixedFit && p.total <= ad.perRule && p.message <= ad.perRule
	}
}

func (ad *advisor) fits(set values) bool {
	sum := ad.fixed
	for _, r := range ad.moving {
		p := ad.price(r, set)
		if p.total > ad.perRule || p.message > ad.perRule {
			return false
		}
		if sum = cost.Add(sum, p.all()); sum > ad.perSchema {
			return false
		}
	}
	return ad.fixedFit && sum <= ad.perSchema
}

// price remembers what a rule costs with the bounds that it depends on.
func (ad *advisor) price(r *rule, set values) price {
	if len(set) == 0 {
		return price{r.total, r.messageCost()}
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%d", r.number)
	for _, b := range ad.of(r).all() {
		if v, ok := set[b]; ok {
			fmt.Fprintf(&key, " %p=%d", b, v)
		}
	}
	p, ok := ad.prices[key.String()]
	if !ok {
		p.total, p.message = ad.bounds.price(r, set)
		ad.prices[key.String()] = p
	}
	return p
}

// choose picks the fewest of the bounds that fit at their least values, and
// raises them.
func (ad *advisor) choose(least values, list []*bound) values {
	if set := ad.single(least, list); set != nil {
		return set
	}
	if set := ad.pair(least, list); set != nil {
		ad.raise(set)
		return set
	}
	set := maps.Clone(least)
	for _, b := range slices.Backward(list) {
		v := set[b]
		if delete(set, b); !ad.fits(set) {
			set[b] = v
		}
	}
	ad.raise(set)
	return set
}

// single prefers the bound that can be raised most.
func (ad *advisor) single(least values, list []*bound) (best values) {
	raised := 0.0
	for _, b := range list {
		set := values{b: least[b]}
		if !ad.fits(set) {
			continue
		}
		ad.raise(set)
		if by := float64(set[b]) / float64(least[b]); by > raised {
			best, raised = set, by
		}
	}
	return best
}

// mostPairs bounds the work of trying pairs.
const mostPairs = 24

func (ad *advisor) pair(least values, list []*bound) values {
	if len(list) > mostPairs {
		return nil
	}
	for i, b := range list {
		for _, c := range list[i+1:] {
			if set := (values{b: least[b], c: least[c]}); ad.fits(set) {
				return set
			}
		}
	}
	return nil
}

// raise takes turns in setting each bound to its next round value, until none
// can be raised.
func (ad *advisor) raise(set values) {
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
}

// roundUp is the next value that people like to read: a power of two, or 1, 2
// or 5 times a power of ten.
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

// list is the advice in the order of the schema's paths.
func (set values) list() []Advice {
	var out []Advice
	for b, v := range set {
		out = append(out, Advice{Path: b.path, Set: b.word, Value: v, Now: b.declared, Field: b.field})
	}
	slices.SortFunc(out, func(x, y Advice) int { return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Set, y.Set)) })
	return out
}
