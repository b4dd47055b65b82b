package lint

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/guard"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// An Effect is the difference between a rule and its replacement.
type Effect uint8

const (
	// Guard: the rule can fail to evaluate, and no failure of the replacement is known. Wherever the
	// rule has a value, the replacement has the same value.
	Guard Effect = iota
	// Equivalent: no object is known that only the rule or only the replacement rejects.
	Equivalent
	// Wanted: the replacement follows the probable intent of the author. It may reject other objects.
	Wanted
)

// A Rewrite is a replacement for a rule.
type Rewrite struct {
	Rule string
	// Effect is the difference from the rule.
	Effect Effect
	// Keeps is set if the CRD accepts no more objects than before: the replacement is equivalent, or
	// rejects the objects on which the rule fails. Otherwise it may accept more.
	Keeps bool
	// Proof shows that the replacement never fails or is equivalent. If it is nil, a search found no failure or
	// difference in as many objects as Searched. A Wanted replacement is neither proved nor searched.
	Proof    *prove.Proof
	Searched int

	guardWay guard.Way
}

// Keeping returns the rewrite with which the CRD accepts no more than before, or nil if no rewrite does.
func (l *Lint) Keeping() *Rewrite {
	i := slices.IndexFunc(l.Rewrites, func(m Rewrite) bool { return m.Keeps })
	if i < 0 {
		return nil
	}
	return &l.Rewrites[i]
}

// compileWork returns the work of compiling a rule. Long rules are usually deep trees, for which
// the work grows with the square of the length.
func compileWork(text string) int { return len(text) * (20 + len(text)/100) }

const (
	// maxWitnesses limits the rounds of adding guards and searching for another object on which the rule fails.
	maxWitnesses = 6
	// maxGuards limits the guards that are added in a round, or for a reason.
	maxGuards = 12
)

type rewriter struct {
	*finder
	site *site
	rule engine.RuleRef
	// fails are writes on which some version of the rule failed, and reasons the errors. shown are
	// writes that demonstrate other outcomes of the rule.
	fails, shown []*search.Witness
	reasons      []string
}

// maxRounds is the number of rounds over all ways of guarding. Failures found with one way are useful for the others.
const maxRounds = 2

// rewrites returns at most two replacements, for which no failure is known: first one that accepts no more than
// before, then one that may accept more.
func (f *finder) rewrites(at *site, rule engine.RuleRef, w *search.Witness) (all []Rewrite, err error) {
	m := &rewriter{finder: f, site: at, rule: rule, fails: []*search.Witness{w}}
	ways := []guard.Way{guard.Reject, guard.Accept, guard.AsFalse, guard.AsTrue}
	if f.isClosed(rule.Path) {
		ways = []guard.Way{guard.AsFalse, guard.AsTrue} // accepting nothing as before would not be a fix
	}
	for _, want := range []search.Want{search.Rejected, search.Accepted} {
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
	learned := map[guard.Way]int{} // number of known failures when it was last tried
	for range maxRounds {
		for _, way := range ways {
			now, known := made[way == guard.Reject], len(m.fails)+len(m.reasons)
			if now != nil && now.Proof != nil || learned[way] == known {
				continue
			}
			learned[way] = known
			fix, err := m.rewrite(way)
			if err != nil {
				return nil, err
			}
			if now == nil || now.guardWay == way || fix != nil && fix.Proof != nil {
				made[way == guard.Reject] = fix
			}
		}
	}
	for _, keeps := range []bool{true, false} {
		if fix := made[keeps]; fix != nil {
			all = append(all, *fix)
		}
	}
	return all, nil
}

// rewrite adds guards until no object is known on which the rule fails. It returns nil if that does not succeed.
func (m *rewriter) rewrite(way guard.Way) (*Rewrite, error) {
	text := m.rule.Rule
	for range maxWitnesses {
		if text = m.guarded(text, way); text == "" {
			return nil, nil
		}
		t, err := m.try(text)
		if err != nil || t == nil {
			return nil, err
		}
		if t.answer.Status == search.Unknown {
			if more := m.guardAll(text, way); more != text {
				if other, err := m.try(more); err != nil {
					return nil, err
				} else if other != nil && other.answer.Status == analysis.Never {
					t, text = other, more
				}
			}
		}
		switch t.answer.Status {
		case analysis.Never, search.Unknown:
			return m.verified(t, &Rewrite{Rule: text, Keeps: way == guard.Reject, Proof: t.answer.Proof, Searched: t.answer.Searched, guardWay: way})
		case search.Found:
			m.fails = append(m.fails, t.answer.Witness)
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// A trial is a CRD with a replacement for the rule, and the result of searching for a failure of that rule.
type trial struct {
	*form
	rule   engine.RuleRef
	answer *analysis.Answer
}

// try returns nil if the CRD with the replacement does not compile or the budget is used up.
func (m *rewriter) try(text string) (*trial, error) {
	made, err := m.compiled(withRule(m.crd, m.unit.version, m.site.steps, m.rule.Index, text), search.DefaultSteps)
	if err != nil || made == nil {
		return nil, err
	}
	t := &trial{form: made, rule: m.rule}
	t.rule.Rule = text
	t.answer, err = t.analyzer.Ask(m.ctx, t.rule, search.Errs)
	return t, err
}

// verified verifies a rewrite against the first failing write, the shown writes, and vet. It returns
// nil if the rewrite has a wrong outcome, the API server would reject the CRD, or an unproved rewrite
// looks as if it could fail.
func (m *rewriter) verified(t *trial, fix *Rewrite) (*Rewrite, error) {
	closed := m.isClosed(m.rule.Path)
	if closed { // the rewritten rule must accept something
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
			return nil, m.ctx.Err() // an undecided rewrite is not offered
		case i == 0 && fix.Keeps == res.Allowed && !closed, i > 0 && res.Allowed != w.Result.Allowed:
			return nil, nil
		}
	}
	m.cfg.work.Spend(crdcopy.CompileWork(t.crd))
	report, err := vet.VetCRD(m.ctx, t.crd, vet.Config{KubeVersion: m.cfg.KubeVersion, VerdictOnly: fix.Proof != nil})
	if err != nil || m.report.Accepted && !report.Accepted {
		return nil, err
	}
	// VetCRD returns lints only for an unproved rewrite, which must not even look as if it could fail.
	if slices.ContainsFunc(report.Lints, func(l vet.Lint) bool {
		return l.Name == optionalRead && l.Path == m.rule.Path && l.Rule == fix.Rule
	}) {
		return nil, nil
	}
	return fix, nil
}

// guarded returns the rule with guards for all failures on known writes, or "" if it fails to add them.
func (m *rewriter) guarded(text string, way guard.Way) string {
	for range maxGuards {
		x := m.compile(text)
		if x == nil {
			return ""
		}
		var fails *failure
		for _, w := range m.fails {
			if fails = m.site.failure(m.ctx, x, w.Result.Prepared); fails != nil {
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
		if text = guard.First(x, m.site.env, reason, way); text == "" {
			return ""
		}
	}
	return ""
}

// guardAll returns the rule with guards for the parts that could fail for a known reason, even if no
// object is known on which they do.
func (m *rewriter) guardAll(text string, way guard.Way) string {
	for _, reason := range m.reasons {
		for range maxGuards {
			x := m.compile(text)
			if x == nil {
				return text
			}
			more := guard.First(x, m.site.env, reason, way)
			if more == "" {
				break
			}
			text = more
		}
	}
	return text
}

// compile returns nil if text does not compile or the budget is used up.
func (m *rewriter) compile(text string) *expr.Expr {
	if m.cfg.work.Spend(compileWork(text)); m.cfg.work.Empty() {
		return nil
	}
	x, err := m.site.compile(text)
	if err != nil {
		return nil
	}
	return x
}

func withRule(crd *apiextensionsv1.CustomResourceDefinition, version string, steps []engine.Step, index int, text string) *apiextensionsv1.CustomResourceDefinition {
	crd, _ = crdcopy.With(crd, version, steps, func(at *apiextensionsv1.JSONSchemaProps) {
		at.XValidations = slices.Clone(at.XValidations)
		at.XValidations[index].Rule = text
	})
	return crd
}
