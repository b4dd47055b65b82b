package engine

import (
	"cmp"
	"slices"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// A tally counts the runs of each rule for Request.Trace and reports each run to Request.Observe. A nil tally does
// neither.
type tally struct {
	byRule  map[*compiledRule]*RuleResult
	trace   bool // results returns the counts
	observe func(RuleRun)
	at      RuleRun // the current run; Rule is nil between runs
}

func newTally(trace bool, observe func(RuleRun)) *tally {
	return &tally{byRule: map[*compiledRule]*RuleResult{}, trace: trace, observe: observe}
}

func (r *Request) tally() *tally {
	if !r.Trace && r.Observe == nil {
		return nil
	}
	return newTally(r.Trace, r.Observe)
}

func (t *tally) reportRun() {
	if t.observe != nil && t.at.Rule != nil {
		t.observe(t.at)
	}
	t.at = RuleRun{}
}

func (t *tally) of(r *compiledRule) *RuleResult {
	res := t.byRule[r]
	if res == nil {
		res = &RuleResult{RuleRef: r.ref}
		t.byRule[r] = res
	}
	return res
}

func (t *tally) ran(p *run, r *compiledRule, at *ruleTarget, out *eval.Outcome) {
	if t == nil {
		return
	}
	t.at = RuleRun{Rule: &r.ref, Self: at.obj, Old: at.old, Outcome: outcomeOf(out)}
	if t.observe != nil {
		t.at.Field = p.here("")
	}
	res := t.of(r)
	res.Runs++
	res.Cost += int64(out.Cost)
	if t.at.Outcome == Undecided {
		res.Undecided++
	}
}

func outcomeOf(out *eval.Outcome) RunOutcome {
	if _, ok := out.Err.(*eval.OverworkError); ok {
		return Undecided
	}
	switch {
	case out.Err != nil:
		return Failed
	case out.False():
		return Rejected
	}
	return Passed
}

func (t *tally) spent(r *compiledRule, cost uint64) {
	if t != nil {
		t.of(r).Cost += int64(cost)
	}
}

func (t *tally) failed(r *compiledRule) {
	if t == nil || r == nil {
		return
	}
	if t.at.Outcome == Passed {
		t.at.Outcome = Failed // the budget ran out
	}
	res := t.of(r)
	res.Failed++
	if t.at.Outcome == Failed {
		res.Errors++
	}
}

func (t *tally) stopped(r *compiledRule) {
	if t != nil && r != nil {
		t.of(r).OverBudget = true
	}
}

func (t *tally) ratcheted(r *compiledRule) {
	if t != nil {
		t.failed(r)
		t.at.Outcome = Ratcheted
		t.of(r).Ratcheted++
	}
}

// Several rules under allOf can have the same path and index.
func (t *tally) results() []RuleResult {
	if t == nil || !t.trace {
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
