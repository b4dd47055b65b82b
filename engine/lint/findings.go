package lint

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/prove"
	"github.com/celadon-cel/celadon/engine/search"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/phrase"
)

// acceptsNothing looks at the places of rules, the outer ones first: what stands
// in one that accepts nothing need not be asked about.
func (f *finder) acceptsNothing() {
	if f.asker.prover == nil {
		return
	}
	for i := range f.unit.rules {
		r := &f.unit.rules[i]
		if r.Broken || f.isClosed(r.Path) || i > 0 && f.unit.rules[i-1].Path == r.Path {
			continue
		}
		proof, _ := f.asker.prover.AcceptsNothing(r.Path) // what cannot be analysed has no proof
		if proof == nil {
			continue
		}
		if f.closed[r.Path] = !f.meant(r.Path, proof); f.off(AcceptsNothing) || !f.closed[r.Path] {
			continue
		}
		if at := f.rule(proof, r.Path); at != nil {
			r = at
		}
		l := f.lint(AcceptsNothing, r, phrase.Place(r.Path)+" accepts nothing: proved ("+proof.String()+")")
		l.Proof = proof
		f.lints = append(f.lints, l)
	}
}

// meant is true of a place that is closed on purpose: its rule is no condition at
// all, or a rule above says that it may not be there.
func (f *finder) meant(path string, proof *prove.Proof) bool {
	return slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool {
		return ref.Path != path || !strings.Contains(ref.Rule, "self")
	})
}

// rule is the first of a proof's that stands at a place; nil where none does.
func (f *finder) rule(proof *prove.Proof, path string) *vet.Rule {
	for i := range f.unit.rules {
		r := &f.unit.rules[i]
		if r.Path == path && slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool { return ref.Path == path && ref.Index == r.Index }) {
			return r
		}
	}
	return nil
}

// isClosed is true of what stands in a place that accepts nothing.
func (f *finder) isClosed(path string) bool {
	for closed := range f.closed {
		rest, below := strings.CutPrefix(path, closed)
		if below && (closed == "" || rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// neverRefuses looks for rules that the rest makes redundant. Of rules that make
// each other redundant it tells of all but one.
func (f *finder) neverRefuses(r *vet.Rule, redundant map[engine.RuleRef]*prove.Proof) {
	if f.off(NeverRefuses) || f.told("constant-rule", r) {
		return
	}
	ref := f.ref(r)
	proof := f.asker.never(ref, search.Refused)
	if proof == nil || rests(proof, ref, redundant) {
		return
	}
	redundant[ref] = proof
	what := "anything that the rest lets through"
	if !proof.Schema && len(proof.Siblings) == 0 {
		what = "anything"
	}
	l := f.lint(NeverRefuses, r, "never refuses "+what+": proved ("+proof.String()+"); remove it, or see whether it says what is meant")
	l.Proof = proof
	f.lints = append(f.lints, l)
}

// rests is true of a proof that needs a rule, itself or by way of other rules that
// are redundant.
func rests(proof *prove.Proof, on engine.RuleRef, redundant map[engine.RuleRef]*prove.Proof) bool {
	return slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool {
		return ref == on || redundant[ref] != nil && rests(redundant[ref], on, redundant)
	})
}

// failsToEvaluate looks for an object on which the rule has no value.
func (f *finder) failsToEvaluate(r *vet.Rule) error {
	if f.off(FailsToEvaluate) {
		return nil
	}
	ref := f.ref(r)
	answer, err := f.asker.Ask(f.ctx, ref, search.Errs)
	if err != nil {
		return err
	}
	f.settled[r.Field] = answer.Status == Never || answer.Status == search.Found
	if answer.Status != search.Found {
		return nil
	}
	at, err := newSite(f.engine, ref)
	if err != nil {
		return err
	}
	x, err := at.compile(r.Rule)
	if err != nil {
		return err
	}
	fails := at.failure(f.ctx, x, answer.Witness.Result.Prepared())
	if fails == nil {
		return nil
	}
	l := f.lint(FailsToEvaluate, r, "fails to evaluate where "+fails.place()+": "+fails.err.Error())
	l.Witness, l.MadeUp = answer.Witness, answer.MadeUp
	if l.Mends, err = f.mends(at, ref, answer.Witness); err != nil {
		return err
	}
	if len(l.Mends) > 0 {
		l.Message += "; guard it"
	}
	f.lints = append(f.lints, l)
	return nil
}
