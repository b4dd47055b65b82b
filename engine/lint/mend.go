package lint

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/prove"
	"github.com/celadon-cel/celadon/engine/search"
	"github.com/celadon-cel/celadon/engine/vet"
)

// Mend is another text for a rule that fails to evaluate. Wherever the rule has a
// value, the text has the same.
type Mend struct {
	Rule string
	// Keeps: what the rule failed on the text refuses, in the rule's own words, so
	// that the CRD accepts no more than before. Else it accepts more.
	Keeps bool
	// Proof is that the text never fails; nil where that was not proved, but
	// searched in so many objects.
	Proof    *prove.Proof
	Searched int
}

// Keeping is the mend with which the CRD accepts no more than before; nil where
// there is none.
func (l *Lint) Keeping() *Mend {
	i := slices.IndexFunc(l.Mends, func(m Mend) bool { return m.Keeps })
	if i < 0 {
		return nil
	}
	return &l.Mends[i]
}

const (
	// maxWitnesses is how many objects a rule may fail on, each for another reason.
	maxWitnesses = 6
	// maxGuards is how many parts of a rule are guarded for one object.
	maxGuards = 12
)

// mender looks for mends of one rule.
type mender struct {
	*finder
	site  *site
	rule  engine.RuleRef
	index int
	// fails are writes that some text failed on; a mend is tried on all. shown are
	// others that show what the rule does.
	fails, shown []*search.Witness
}

// mends are the texts for a rule that are known to work, one that keeps what is
// accepted before one that does not.
func (f *finder) mends(at *site, rule engine.RuleRef, w *search.Witness) (all []Mend, err error) {
	m := &mender{finder: f, site: at, rule: rule, fails: []*search.Witness{w}}
	ways := []way{refuse, accept, asFalse, asTrue}
	if f.isClosed(rule.Path) {
		ways = []way{asFalse, asTrue} // to go on accepting nothing mends nothing
	}
	for _, want := range []search.Want{search.Refused, search.Accepted} {
		answer, err := f.asker.Ask(f.ctx, rule, want)
		if err != nil {
			return nil, err
		}
		if answer.Witness != nil {
			m.shown = append(m.shown, answer.Witness)
		}
	}
	for _, how := range ways {
		if len(all) == 2 {
			break
		}
		mend, err := m.mend(how)
		if err != nil {
			return nil, err
		}
		if mend != nil && !slices.ContainsFunc(all, func(other Mend) bool { return other.Keeps == mend.Keeps }) {
			all = append(all, *mend)
		}
	}
	return all, nil
}

// mend guards the rule until no object is known on which it fails. It is nil where
// that comes to nothing.
func (m *mender) mend(how way) (*Mend, error) {
	text := m.rule.Rule
	for range maxWitnesses {
		if text = m.guarded(text, how); text == "" {
			return nil, nil
		}
		crd := withRule(m.crd, m.unit.version, m.site.steps, m.rule.Index, text)
		e, err := engine.Compile(crd, engine.Config{KubeVersion: m.cfg.KubeVersion})
		if e == nil {
			return nil, err
		}
		cfg := *m.cfg
		cfg.Steps = max(cfg.Steps, search.DefaultSteps) // what is offered is looked at longer
		asker, err := NewAsker(crd, e, m.unit.version, cfg)
		if err != nil {
			return nil, err
		}
		mended := m.rule
		mended.Rule = text
		answer, err := asker.Ask(m.ctx, mended, search.Errs)
		if err != nil {
			return nil, err
		}
		switch answer.Status {
		case Never, search.Unknown:
			if ok, err := m.opens(asker, mended); !ok {
				return nil, err
			}
			return m.judged(e, crd, &Mend{Rule: text, Keeps: how == refuse, Proof: answer.Proof, Searched: answer.Searched})
		case search.Found:
			m.fails = append(m.fails, answer.Witness)
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// opens is true where the place of the rule accepts something, or did so before.
func (m *mender) opens(asker *Asker, mended engine.RuleRef) (bool, error) {
	if !m.isClosed(mended.Path) {
		return true, nil
	}
	answer, err := asker.Ask(m.ctx, mended, search.Accepted)
	return err == nil && answer.Status == search.Found, err
}

// judged is a mend after a last look at what is known of the rule; nil where it is
// not what it should be, or the server would not take it.
func (m *mender) judged(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, mend *Mend) (*Mend, error) {
	for i, w := range slices.Concat(m.fails[:1], m.shown) {
		res, err := e.Validate(m.ctx, w.Request())
		switch {
		case err != nil:
			return nil, m.ctx.Err() // what is undecided is no mend
		case i == 0 && mend.Keeps == res.Allowed && !m.isClosed(m.rule.Path), i > 0 && res.Allowed != w.Result.Allowed:
			return nil, nil
		}
	}
	report, err := vet.VetCRD(m.ctx, crd, vet.Config{KubeVersion: m.cfg.KubeVersion, VerdictOnly: true})
	if err != nil || m.report.Accepted && !report.Accepted {
		return nil, err
	}
	return mend, nil
}

// guarded is a text with guards for all that it fails for on any known write; ""
// where it fails for something that no guard is known for.
func (m *mender) guarded(text string, how way) string {
	env, err := m.site.desk.Env(m.site.optional)
	if err != nil {
		return ""
	}
	for range maxGuards {
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
		if text = guard(x, env, fails.err.Error(), how); text == "" {
			return ""
		}
	}
	return ""
}

// withRule is a copy of a CRD with another text for a rule of a version.
func withRule(crd *apiextensionsv1.CustomResourceDefinition, version string, steps []engine.Step, index int, text string) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version {
			changeAt(v.Schema.OpenAPIV3Schema, steps, func(at *apiextensionsv1.JSONSchemaProps) { at.XValidations[index].Rule = text })
		}
	}
	return crd
}

// changeAt changes the schema of a place.
func changeAt(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step, change func(*apiextensionsv1.JSONSchemaProps)) {
	switch {
	case s == nil:
	case len(steps) == 0:
		change(s)
	case !steps[0].Any:
		if below, ok := s.Properties[steps[0].Name]; ok {
			changeAt(&below, steps[1:], change)
			s.Properties[steps[0].Name] = below
		}
	case s.Items != nil:
		changeAt(s.Items.Schema, steps[1:], change)
	case s.AdditionalProperties != nil:
		changeAt(s.AdditionalProperties.Schema, steps[1:], change)
	}
}
