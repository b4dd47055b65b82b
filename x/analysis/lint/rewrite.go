package lint

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/guard"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Rewrite is another text for a rule that fails to evaluate. Wherever the rule has a
// value, the text has the same.
type Rewrite struct {
	Rule string
	// Keeps: what the rule failed on the text refuses, in the rule's own words, so
	// that the CRD accepts no more than before. Else it accepts more.
	Keeps bool
	// Proof is that the text never fails; nil where that was not proved, but
	// searched in so many objects.
	Proof    *prove.Proof
	Searched int

	how guard.Way
}

// Keeping is the mend with which the CRD accepts no more than before; nil where
// there is none.
func (l *Lint) Keeping() *Rewrite {
	i := slices.IndexFunc(l.Rewrites, func(m Rewrite) bool { return m.Keeps })
	if i < 0 {
		return nil
	}
	return &l.Rewrites[i]
}

// compileWork returns the work of compiling a rule. A long rule is mostly a deep tree, for
// which that grows with the square of the length.
func compileWork(text string) int { return len(text) * (20 + len(text)/100) }

const (
	// maxWitnesses is how many objects a rule may fail on, each for another reason.
	maxWitnesses = 6
	// maxGuards is how many parts of a rule are guarded for one object.
	maxGuards = 12
)

// rewriter looks for mends of one rule.
type rewriter struct {
	*finder
	site *site
	rule engine.RuleRef
	// fails are writes that some text failed on, and reasons why; shown are others
	// that show what the rule does.
	fails, shown []*search.Witness
	reasons      []string
}

// maxRounds: what is learned of a rule by one way of guarding it serves the others.
const maxRounds = 2

// rewrites are the texts for a rule that are known to work, one that keeps what is
// accepted before one that does not.
func (f *finder) rewrites(at *site, rule engine.RuleRef, w *search.Witness) (all []Rewrite, err error) {
	m := &rewriter{finder: f, site: at, rule: rule, fails: []*search.Witness{w}}
	ways := []guard.Way{guard.Refuse, guard.Accept, guard.AsFalse, guard.AsTrue}
	if f.isClosed(rule.Path) {
		ways = []guard.Way{guard.AsFalse, guard.AsTrue} // to go on accepting nothing mends nothing
	}
	for _, want := range []search.Want{search.Refused, search.Accepted} {
		if want == search.Accepted && f.analyzer.AcceptsNothing(rule.Path) != nil {
			continue
		}
		answer, err := f.analyzer.Ask(f.ctx, rule, want)
		if err != nil {
			return nil, err
		}
		if answer.Witness != nil {
			m.shown = append(m.shown, answer.Witness)
		}
	}
	made := map[bool]*Rewrite{}    // by Keeps
	learned := map[guard.Way]int{} // before it was tried
	for range maxRounds {
		for _, how := range ways {
			now, known := made[how == guard.Refuse], len(m.fails)+len(m.reasons)
			if now != nil && now.Proof != nil || learned[how] == known {
				continue
			}
			learned[how] = known
			mend, err := m.rewrite(how)
			if err != nil {
				return nil, err
			}
			if now == nil || now.how == how || mend != nil && mend.Proof != nil {
				made[how == guard.Refuse] = mend
			}
		}
	}
	for _, keeps := range []bool{true, false} {
		if mend := made[keeps]; mend != nil {
			all = append(all, *mend)
		}
	}
	return all, nil
}

// rewrite guards the rule until no object is known on which it fails. It is nil where
// that comes to nothing.
func (m *rewriter) rewrite(how guard.Way) (*Rewrite, error) {
	text := m.rule.Rule
	for range maxWitnesses {
		if text = m.guarded(text, how); text == "" {
			return nil, nil
		}
		t, err := m.try(text)
		if err != nil || t == nil {
			return nil, err
		}
		if t.answer.Status == search.Unknown {
			if more := m.guardAll(text, how); more != text {
				if other, err := m.try(more); err != nil {
					return nil, err
				} else if other != nil && other.answer.Status == analysis.Never {
					t, text = other, more
				}
			}
		}
		switch t.answer.Status {
		case analysis.Never, search.Unknown:
			return m.judged(t, &Rewrite{Rule: text, Keeps: how == guard.Refuse, Proof: t.answer.Proof, Searched: t.answer.Searched, how: how})
		case search.Found:
			m.fails = append(m.fails, t.answer.Witness)
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// trial is a CRD with another text for the rule, and whether that fails.
type trial struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	engine   *engine.Engine
	analyzer *analysis.Analyzer
	rule     engine.RuleRef
	answer   *analysis.Answer
}

// try is nil for a text that the CRD cannot have.
func (m *rewriter) try(text string) (*trial, error) {
	t := &trial{crd: withRule(m.crd, m.unit.version, m.site.steps, m.rule.Index, text), rule: m.rule}
	t.rule.Rule = text
	if m.cfg.work.Spend(crdcopy.CompileWork(t.crd)); m.cfg.work.Empty() {
		return nil, nil
	}
	var err error
	if t.engine, err = engine.Compile(t.crd, engine.Config{KubeVersion: m.cfg.KubeVersion}); t.engine == nil {
		return nil, err
	}
	cfg := *m.cfg
	cfg.Steps = max(cfg.Steps, search.DefaultSteps) // what is offered is looked at longer
	if t.analyzer, err = cfg.analyzer(t.crd, t.engine, m.unit.version); err != nil {
		return nil, err
	}
	t.answer, err = t.analyzer.Ask(m.ctx, t.rule, search.Errs)
	return t, err
}

// judged is a mend after a last look at what is known of the rule; nil where it is
// not what it should be, or the server would not take it.
func (m *rewriter) judged(t *trial, mend *Rewrite) (*Rewrite, error) {
	closed := m.isClosed(m.rule.Path)
	if closed { // then it must accept something
		if t.analyzer.AcceptsNothing(m.rule.Path) != nil {
			return nil, nil
		}
		if answer, err := t.analyzer.Ask(m.ctx, t.rule, search.Accepted); err != nil || answer.Status != search.Found {
			return nil, err
		}
	}
	for i, w := range slices.Concat(m.fails[:1], m.shown) {
		res, err := t.engine.Validate(m.ctx, w.Request())
		switch {
		case err != nil:
			return nil, m.ctx.Err() // what is undecided is no mend
		case i == 0 && mend.Keeps == res.Allowed && !closed, i > 0 && res.Allowed != w.Result.Allowed:
			return nil, nil
		}
	}
	m.cfg.work.Spend(crdcopy.CompileWork(t.crd))
	report, err := vet.VetCRD(m.ctx, t.crd, vet.Config{KubeVersion: m.cfg.KubeVersion, VerdictOnly: mend.Proof != nil})
	if err != nil || m.report.Accepted && !report.Accepted {
		return nil, err
	}
	// What is not proved must not even look as if it could fail.
	if slices.ContainsFunc(report.Lints, func(l vet.Lint) bool {
		return l.Name == optionalRead && l.Path == m.rule.Path && l.Rule == mend.Rule
	}) {
		return nil, nil
	}
	return mend, nil
}

// guarded is a text with guards for all that it fails for on any known write; ""
// where it fails for something that no guard is known for.
func (m *rewriter) guarded(text string, how guard.Way) string {
	env, err := m.site.desk.Env(m.site.optional)
	if err != nil {
		return ""
	}
	for range maxGuards {
		if m.cfg.work.Spend(compileWork(text)); m.cfg.work.Empty() {
			return ""
		}
		x, err := m.site.compile(text)
		if err != nil {
			return ""
		}
		var fails *failure
		for _, w := range m.fails {
			if fails = m.site.failure(m.ctx, x, w.Result.Prepared()); fails != nil {
				break
			}
		}
		if fails == nil {
			return text
		}
		reason := fails.err.Error()
		if !slices.Contains(m.reasons, reason) {
			m.reasons = append(m.reasons, reason)
		}
		if text = guard.First(x, env, reason, how); text == "" {
			return ""
		}
	}
	return ""
}

// guardAll is a text with guards for whatever might fail for a reason that some text
// failed for, though no object is known for it.
func (m *rewriter) guardAll(text string, how guard.Way) string {
	env, err := m.site.desk.Env(m.site.optional)
	if err != nil {
		return text
	}
	for _, reason := range m.reasons {
		for range maxGuards {
			if m.cfg.work.Spend(compileWork(text)); m.cfg.work.Empty() {
				return text
			}
			x, err := m.site.compile(text)
			if err != nil {
				return text
			}
			more := guard.First(x, env, reason, how)
			if more == "" {
				break
			}
			text = more
		}
	}
	return text
}

// withRule is a CRD with another text for a rule of a version.
func withRule(crd *apiextensionsv1.CustomResourceDefinition, version string, steps []engine.Step, index int, text string) *apiextensionsv1.CustomResourceDefinition {
	crd, _ = crdcopy.With(crd, version, steps, func(at *apiextensionsv1.JSONSchemaProps) {
		at.XValidations = slices.Clone(at.XValidations)
		at.XValidations[index].Rule = text
	})
	return crd
}
