package engine

import (
	"cmp"
	"slices"
)

// tally counts what each rule did, for Request.Trace; a nil tally counts nothing.
type tally struct {
	byRule map[*compiledRule]*RuleResult
}

func newTally() *tally { return &tally{byRule: map[*compiledRule]*RuleResult{}} }

func (t *tally) of(r *compiledRule) *RuleResult {
	res := t.byRule[r]
	if res == nil {
		res = &RuleResult{RuleRef: r.ref}
		t.byRule[r] = res
	}
	return res
}

func (t *tally) ran(r *compiledRule, cost uint64) {
	if t != nil {
		res := t.of(r)
		res.Runs++
		res.Cost += int64(cost)
	}
}

func (t *tally) spent(r *compiledRule, cost uint64) {
	if t != nil {
		t.of(r).Cost += int64(cost)
	}
}

func (t *tally) failed(r *compiledRule) {
	if t != nil && r != nil {
		t.of(r).Failed++
	}
}

// results are sorted by place, then by position there: under allOf several
// rules can have the same.
func (t *tally) results() []RuleResult {
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
