package lint

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

func (f *finder) acceptsNothing() {
	for i := range f.unit.rules {
		r := &f.unit.rules[i]
		if f.cfg.work.Empty() {
			return
		}
		if r.Broken || i > 0 && f.unit.rules[i-1].Path == r.Path {
			continue
		}
		proof := f.analyzer.AcceptsNothing(r.Path)
		if proof == nil {
			continue
		}
		if f.closed[r.Path] = !f.intended(r.Path, proof); f.off(AcceptsNothing) || !f.closed[r.Path] {
			continue
		}
		if at := f.rule(proof, r.Path); at != nil {
			r = at
		}
		l := f.lint(AcceptsNothing, r, phrase.Path(r.Path)+" accepts nothing: proved ("+proof.String()+")")
		l.Proof = proof
		f.lints = append(f.lints, l)
	}
}

// intended reports whether the proof suggests that path accepts nothing on purpose: one of its rules
// does not read self, only compares self to null, or is at another path.
func (f *finder) intended(path string, proof *prove.Proof) bool {
	return slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool {
		flat := strings.ReplaceAll(lex.Flat(ref.Rule), " ", "")
		return ref.Path != path || !strings.Contains(flat, "self") || flat == "self==null" || flat == "null==self"
	})
}

func (f *finder) rule(proof *prove.Proof, path string) *vet.Rule {
	for i := range f.unit.rules {
		r := &f.unit.rules[i]
		if r.Path == path && slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool { return ref.Path == path && ref.Index == r.Index }) {
			return r
		}
	}
	return nil
}

func (f *finder) isClosed(path string) bool {
	for closed := range f.closed {
		rest, below := strings.CutPrefix(path, closed)
		if below && (closed == "" || rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// redundant returns the rules that reject nothing that the rest of the CRD lets through, with
// proofs. If rules make each other redundant, the first of them is not included.
func (f *finder) redundant() map[engine.RuleRef]*prove.Proof {
	all := map[engine.RuleRef]*prove.Proof{}
	if f.off(NeverRejects) {
		return all
	}
	for _, r := range slices.Backward(f.unit.rules) {
		if f.cfg.work.Empty() || r.Broken || f.isClosed(r.Path) || f.reportedByVet("constant-rule", &r) {
			continue
		}
		ref := f.ref(&r)
		if proof := f.analyzer.Prove(ref, search.Rejected); proof != nil && !rests(proof, ref, all, map[engine.RuleRef]bool{}) {
			all[ref] = proof
		}
	}
	return all
}

func (f *finder) neverRejects(r *vet.Rule, proof *prove.Proof) {
	if proof == nil {
		return
	}
	rejected, then := "anything that the rest accepts", "it adds only its message"
	switch {
	case len(proof.Siblings) > 0:
	case proof.Schema:
		then = "remove it, or correct it if it should reject something"
	default:
		rejected, then = "anything", "remove it, or correct it if it should reject something"
	}
	l := f.lint(NeverRejects, r, "never rejects "+rejected+": proved ("+proof.String()+"); "+then)
	l.Proof = proof
	f.lints = append(f.lints, l)
}

// rests reports whether a proof depends on a rule, directly or through other redundant rules. seen
// holds the rules that have been visited.
func rests(proof *prove.Proof, on engine.RuleRef, redundant map[engine.RuleRef]*prove.Proof, seen map[engine.RuleRef]bool) bool {
	return slices.ContainsFunc(proof.Siblings, func(ref engine.RuleRef) bool {
		if ref == on {
			return true
		}
		if redundant[ref] == nil || seen[ref] {
			return false
		}
		seen[ref] = true
		return rests(redundant[ref], on, redundant, seen)
	})
}

func (f *finder) failsToEvaluate(r *vet.Rule) error {
	if f.off(FailsToEvaluate) {
		return nil
	}
	ref, with := f.ref(r), f
	answer, err := f.analyzer.Ask(f.ctx, ref, search.Errs)
	if err == nil && f.reportedByVet(optionalRead, r) && (answer.Status == search.Unknown || answer.Status == analysis.Never && len(answer.Proof.Siblings) > 0) {
		with, answer, err = f.amongFailing(ref, answer)
	}
	if err != nil {
		return err
	}
	if f.settled[r.Field] = answer.Status == analysis.Never || answer.Status == search.Found; answer.Status != search.Found {
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
	fails := at.failure(f.ctx, x, answer.Witness.Result.Prepared)
	if fails == nil {
		return nil
	}
	l := f.lint(FailsToEvaluate, r, "fails to evaluate if "+fails.pathAndValue()+": "+fails.err.Error())
	l.Witness, l.MadeUp = answer.Witness, answer.MadeUp
	if l.Rewrites, err = with.rewrites(at, ref, answer.Witness); err != nil {
		return err
	}
	if len(l.Rewrites) > 0 {
		l.Message += "; guard it"
	}
	f.lints = append(f.lints, l)
	return nil
}

// optionalRead is vet's lint for rules that read fields that may be absent.
const optionalRead = "optional-read"

// amongFailing analyzes a rule that may only fail on objects on which other rules also fail. It
// searches in a copy of the CRD in which all other rules with an optional read are true. If the
// original CRD rejects the witness only because of rules that fail on it, amongFailing returns the
// finder for the copy, else f. It returns before if the CRD has no such other rules.
func (f *finder) amongFailing(ref engine.RuleRef, before *analysis.Answer) (*finder, *analysis.Answer, error) {
	unknown := &analysis.Answer{Answer: search.Answer{Status: search.Unknown}}
	crd := f.crd
	for i := range f.unit.rules {
		if r := &f.unit.rules[i]; f.reportedByVet(optionalRead, r) && (r.Path != ref.Path || r.Index != ref.Index) {
			steps, err := engine.ParsePath(r.Path)
			if err != nil {
				return nil, nil, err
			}
			crd = withRule(crd, f.unit.version, steps, r.Index, "true")
		}
	}
	if crd == f.crd {
		return f, before, nil
	}
	without := *f
	without.refs = nil
	var err error
	if without.form, err = f.compiled(crd, maxSteps); err != nil || without.form == nil {
		return f, unknown, err
	}
	answer, err := without.analyzer.Ask(f.ctx, ref, search.Errs)
	if err != nil || answer.Status != search.Found {
		return f, answer, err
	}
	if answer.Witness.Result, err = f.engine.Validate(f.ctx, answer.Witness.Request()); err != nil {
		return f, unknown, f.ctx.Err() // an undecided write is not a witness
	}
	for _, c := range answer.Witness.Result.Causes {
		if c.Rule == nil || !f.fails(*c.Rule, answer.Witness) {
			return f, unknown, nil
		}
	}
	return &without, answer, nil
}

func (f *finder) fails(ref engine.RuleRef, w *search.Witness) bool {
	at, err := newSite(f.engine, ref)
	if err != nil {
		return false
	}
	x, err := at.compile(ref.Rule)
	return err == nil && at.failure(f.ctx, x, w.Result.Prepared) != nil
}
