package engine

import (
	"cmp"
	"slices"
)

// trace counts what each rule did; a nil trace counts nothing.
type trace struct {
	byRule map[*rule]*RuleResult
}

func newTrace() *trace { return &trace{byRule: map[*rule]*RuleResult{}} }

func (t *trace) of(r *rule) *RuleResult {
	res := t.byRule[r]
	if res == nil {
		res = &RuleResult{RuleRef: r.ref}
		t.byRule[r] = res
	}
	return res
}

func (t *trace) ran(r *rule, cost uint64) {
	if t != nil {
		res := t.of(r)
		res.Runs++
		res.Cost += int64(cost)
	}
}

func (t *trace) spent(r *rule, cost uint64) {
	if t != nil {
		t.of(r).Cost += int64(cost)
	}
}

func (t *trace) failed(r *rule) {
	if t != nil && r != nil {
		t.of(r).Failed++
	}
}

// results are sorted by place, then by position there: under allOf several
// rules can have the same.
func (t *trace) results() []RuleResult {
	if t == nil {
		return nil
	}
	out := make([]RuleResult, 0, len(t.byRule))
	for _, res := range t.byRule {
		out = append(out, *res)
	}
	slices.SortFunc(out, func(a, b RuleResult) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}
