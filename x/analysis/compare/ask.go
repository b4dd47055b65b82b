package compare

import (
	"errors"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

type answer struct {
	witness  *Witness
	proof    string
	searched int
	reason   string // if there is neither a witness nor a proof: why, or ""
	limited  bool
}

// pursue looks for an object that base admits and that other, because of the goal, rejects or persists differently.
func (c *comparison) pursue(g *goal, base, other *side, m *work.Meter) (answer, error) {
	switch {
	case g == nil:
		return answer{proof: "the requirement is weaker"}, nil
	case !base.version.Served && !base.version.Storage:
		return answer{proof: unserved}, nil
	case m.Empty():
		return answer{reason: m.Reason(), limited: true}, nil
	}
	a := c.newGoalSearch(g, base, other, m)
	err := a.run()
	if fatal(err) != nil {
		return answer{}, err
	}
	if err != nil {
		a.reason = err.Error()
	}
	if m.Empty() {
		a.limited, a.reason = true, m.Reason()
	}
	return a.answer, nil
}

type goalSearch struct {
	*comparison
	*goal
	work *work.Meter
	answer
	base, other *side
	both        *analysis.Analyzer // of other, if the object must also be admitted there; else nil
	relabel     bool               // the versions of the two sides have different names
}

func (c *comparison) newGoalSearch(g *goal, base, other *side, m *work.Meter) *goalSearch {
	return &goalSearch{comparison: c, work: m, goal: g, base: base, other: other, relabel: base.version.Name != other.version.Name}
}

func (a *goalSearch) run() error {
	h := hybridOf(a.base, a.goal)
	if h == nil {
		a.reason = "the path does not exist"
		return nil
	}
	if proof := a.prove(h); proof != nil {
		a.answer.proof = proof.String()
		return nil
	}
	q, err := a.compiled(h)
	switch {
	case err != nil && a.from == nil && a.values == nil:
		// The rule probably refers to a field that base does not have, such as a new required field.
		// Any object that base admits may then demonstrate the change.
		g := *a.goal
		g.rule, g.values = "false", []any{}
		a.goal = &g
		return a.run()
	case err != nil && a.from == nil:
		return err
	case err != nil: // for example, the rule refers to a field that base does not have
		a.reason, err = err.Error(), nil
	case a.values != nil:
		if err = a.try(q, h); a.witness != nil || err != nil || !a.kept || a.relabel {
			return err
		}
		if a.both, err = a.analyzer(a.other, analysis.Config{}); err == nil { // other changes may have rejected the object
			if q, err = a.compiled(h); err == nil {
				err = a.try(q, h)
			}
		}
		return err
	default:
		err = a.find(q, h.ref)
	}
	if a.from != nil && a.witness == nil && err == nil {
		return a.findInOtherCRD()
	}
	return err
}

// findInOtherCRD searches in the complete schema of the other side, because its other changes may be the reason
// that a rule's witness was not confirmed. It does nothing if the versions have different names.
func (a *goalSearch) findInOtherCRD() error {
	if a.relabel {
		return nil
	}
	cfg := analysis.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed}
	base, err := a.analyzer(a.base, cfg)
	if err != nil {
		return err
	}
	cfg.OtherForm = base
	q, err := a.analyzer(a.other, cfg)
	if err != nil {
		return err
	}
	ref := engine.RuleRef{
		Version: a.other.version.Name, Path: engine.FormatPath(a.goal.at.steps), Index: a.index,
		Rule: a.rule, OptionalOldSelf: optional(a.from),
	}
	return a.find(q, ref)
}

// compiled returns an error if the goal's rule does not compile, or if the work budget is used up.
func (a *goalSearch) compiled(h *hybrid) (*analysis.Analyzer, error) {
	a.work.Spend(a.base.size)
	if a.work.Empty() {
		return nil, errors.New(a.work.Reason())
	}
	steps := a.cfg.Steps
	if a.from == nil {
		steps *= schemaSteps
	}
	q := analysis.Uncompiled(h.crd, a.base.kubeVersion, h.ref.Version, analysis.Config{Steps: steps, Seed: a.cfg.Seed, OtherForm: a.both})
	q.Charge(a.work)
	err := q.Compile()
	var broken *engine.CompileErrors
	if !errors.As(err, &broken) {
		return q, err
	}
	for _, one := range broken.Errors {
		if one.Path == h.ref.Path && one.Index == h.ref.Index {
			return nil, one
		}
	}
	return q, nil
}

func (a *goalSearch) analyzer(s *side, cfg analysis.Config) (*analysis.Analyzer, error) {
	q, err := analysis.New(alone(s, s.schema()), s.engine, s.version.Name, cfg)
	if err == nil {
		q.Charge(a.work)
	}
	return q, err
}

func (a *goalSearch) prover(of *side, crd *apiextensionsv1.CustomResourceDefinition) *analysis.Analyzer {
	a.work.Spend(a.base.size / 4)
	q := analysis.Uncompiled(crd, of.kubeVersion, of.version.Name, analysis.Config{})
	q.Charge(a.work)
	return q
}

// schemaSteps multiplies the number of writes that are tried for constraints of the schema. A string of the length
// that demonstrates the change is expensive to find if rules also constrain it.
const schemaSteps = 3

// prove returns a proof that the goal's rule rejects nothing that base admits, or nil. A proof in the hybrid also
// holds on the other side if both sides read the same values. If the rule is false, such a proof shows that no object
// that base admits has the path.
func (a *goalSearch) prove(h *hybrid) *prove.Proof {
	read := a.expected()
	before, after := crdcopy.At(a.base.schema(), read...), crdcopy.At(a.other.schema(), read...)
	alike := before != nil && after != nil && (a.ofSelf || sameValues(before, after))
	nowhere := a.values != nil && !a.base.crd.Spec.PreserveUnknownFields // a proof shows that no object has the path
	if nowhere || a.values == nil && !a.kept && alike {
		if proof := a.prover(a.base, h.crd).Prove(h.ref, search.Rejected); proof != nil {
			return proof
		}
	}
	if a.from == nil {
		return nil
	}
	return a.passes(engine.RuleRef{Path: h.ref.Path, Index: a.index})
}

func (a *goalSearch) passes(rule engine.RuleRef) *prove.Proof {
	if a.base.crd.Spec.PreserveUnknownFields {
		return nil // objects of base may have values for the new fields, unvalidated
	}
	return a.prover(a.base, a.base.crd).Passes(a.prover(a.other, a.other.crd), rule)
}

func (a *goalSearch) find(q *analysis.Analyzer, rule engine.RuleRef) error {
	for _, want := range []search.Want{search.Rejected, search.Errs} {
		if want == search.Errs && a.from == nil {
			continue // rules generated from the schema do not fail
		}
		found, err := q.Search(a.ctx, rule, want)
		if err != nil {
			return err
		}
		a.searched += found.Searched
		if found.Status == search.NotAnalyzed {
			a.reason = found.Reason
			return nil
		}
		if found.Witness == nil {
			continue
		}
		if a.witness, err = a.show(found.Witness); a.witness != nil || err != nil {
			return err
		}
	}
	return nil
}

// A hybrid is a CRD with only one side's version, to which the rule of a goal is added.
type hybrid struct {
	crd *apiextensionsv1.CustomResourceDefinition
	ref engine.RuleRef
}

func hybridOf(s *side, g *goal) *hybrid {
	h := &hybrid{}
	rule := aRule{Rule: g.rule}
	if g.from != nil {
		rule.OptionalOldSelf = g.from.OptionalOldSelf
	}
	root, ok := crdcopy.Schema(s.schema(), g.at.steps, func(p *props) {
		p.XValidations = append(slices.Clip(p.XValidations), rule)
		h.ref = engine.RuleRef{
			Version: s.version.Name, Path: engine.FormatPath(g.at.steps), Index: len(p.XValidations) - 1,
			Rule: rule.Rule, OptionalOldSelf: optional(&rule),
		}
	})
	if !ok {
		return nil
	}
	h.crd = alone(s, root)
	return h
}

func alone(s *side, root *props) *apiextensionsv1.CustomResourceDefinition {
	crd := *s.crd
	v := *s.version
	v.Served, v.Storage = true, true
	v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s.pinned(root)}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
	crd.Spec.Conversion = nil
	return &crd
}

// pinned returns a root schema in which apiVersion and kind have their only possible value as an enum.
func (s *side) pinned(root *props) *props {
	for name, only := range map[string]string{"apiVersion": s.crd.Spec.Group + "/" + s.version.Name, "kind": s.crd.Spec.Names.Kind} {
		root, _ = crdcopy.Schema(root, []engine.Step{{Name: name}}, func(p *props) {
			p.Enum = []apiextensionsv1.JSON{{Raw: strconv.AppendQuote(nil, only)}}
		})
	}
	return root
}

func decoded(raw []byte) (any, error) {
	obj, err := engine.Decode(slices.Concat([]byte(`{"v":`), raw, []byte("}")))
	if err != nil {
		return nil, err
	}
	return obj["v"], nil
}
