package engine

import (
	"cmp"
	"slices"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// tally counts what each rule did, for Request.Trace, and tells of each run, for
// Request.Observe; a nil tally does neither.
type tally struct {
	byRule  map[*compiledRule]*RuleResult // nil: not counted
	observe func(RuleRun)                 // nil: not told
	at      RuleRun                       // the run at hand; without Rule there is none
}

func newTally() *tally { return &tally{byRule: map[*compiledRule]*RuleResult{}} }

// tally is what a request asks for.
func (r *Request) tally() *tally {
	if !r.Trace && r.Observe == nil {
		return nil
	}
	t := &tally{observe: r.Observe}
	if r.Trace {
		t.byRule = newTally().byRule
	}
	return t
}

// tell ends a run.
func (t *tally) tell() {
	if t.observe != nil && t.at.Rule != nil {
		t.observe(t.at)
		t.at = RuleRun{}
	}
}

func (t *tally) of(r *compiledRule) *RuleResult {
	res := t.byRule[r]
	if res == nil {
		res = &RuleResult{RuleRef: r.ref}
		t.byRule[r] = res
	}
	return res
}

func (t *tally) ran(p *run, r *compiledRule, at *place, out *eval.Outcome) {
	if t == nil {
		return
	}
	t.at = RuleRun{Rule: &r.ref, Self: at.obj, Old: at.old, Outcome: outcomeOf(out)}
	if t.observe != nil {
		t.at.Field = p.here("")
	}
	if t.byRule != nil {
		res := t.of(r)
		res.Runs++
		res.Cost += int64(out.Cost)
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
		return Refused
	}
	return Passed
}

func (t *tally) spent(r *compiledRule, cost uint64) {
	if t != nil && t.byRule != nil {
		t.of(r).Cost += int64(cost)
	}
}

func (t *tally) failed(r *compiledRule) {
	if t == nil || r == nil {
		return
	}
	if t.at.Outcome == Passed {
		t.at.Outcome = Failed // there was no budget for it
	}
	if t.byRule != nil {
		t.of(r).Failed++
	}
}

// ratcheted is failed of a rule that the server only warns of.
func (t *tally) ratcheted(r *compiledRule) {
	t.failed(r)
	if t != nil {
		t.at.Outcome = Ratcheted
	}
}

// results are sorted by place, then by position there: under allOf several
// rules can have the same.
func (t *tally) results() []RuleResult {
	if t == nil || t.byRule == nil {
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
