package find

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/budget"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// answerCRD searches all versions of a CRD. p is nil for questions about its rules. With an error, the result identifies
// the CRD.
func answerCRD(ctx context.Context, o *Options, p *bothPolicies, crd *definition, step func()) (*CRDPart, error) {
	part := &CRDPart{File: crd.file, Name: crd.crd.Name, Versions: []*VersionPart{}}
	e, err := engine.Compile(crd.crd, engine.Config{KubeVersion: o.KubeVersion})
	if e == nil {
		return part, err
	}
	var meter *work.Meter
	if p != nil {
		meter = requests.NewMeter(p.crds)
	}
	costs := budget.Proofs(crd.crd, o.KubeVersion, cost.Limits{})
	for _, version := range e.Info().Versions {
		part.known.versions = append(part.known.versions, version)
		if o.Version != "" && version != o.Version || crd.builtins != nil && crd.builtins[version] == nil {
			continue
		}
		v := &versionSearch{ctx: ctx, o: o, definition: crd, engine: e, name: version, known: &part.known, step: step, costs: costs}
		run := v.run
		if p != nil {
			v.work = meter
			run = func() (*VersionPart, error) { return v.runPolicies(p) }
		}
		found, err := run()
		if err != nil {
			return part, err
		}
		if found != nil {
			part.Versions = append(part.Versions, found)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return part, nil
}

type versionSearch struct {
	*definition
	ctx    context.Context
	o      *Options
	engine *engine.Engine
	name   string
	known  *selectable
	step   func()
	costs  func(context.Context, engine.RuleRef) (string, error)
	work   *work.Meter // of questions about policies
}

// run returns the results for the version, or nil if there are no questions about it.
func (v *versionSearch) run() (*VersionPart, error) {
	a, err := analysis.New(v.crd, v.engine, v.name, analysis.Config{Steps: v.o.Steps, Seed: v.o.Seed, CostProof: v.costs})
	if err != nil {
		return nil, err
	}
	part := &VersionPart{Name: v.name, Rules: []*RulePart{}}
	var rules []engine.RuleRef
	for _, ref := range a.Rules() {
		v.known.rules = append(v.known.rules, ref)
		if v.o.selects(ref) {
			rules = append(rules, ref)
			part.Rules = append(part.Rules, &RulePart{Path: ref.Path, Index: ref.Index, Rule: ref.Rule})
		}
	}
	meters := work.Split(len(rules)*v.o.questions(), crdcopy.Nodes(v.crd))
	if v.o.samples() || v.o.whole() {
		a.Charge(meters[0])
		sample, err := a.Sample(v.ctx, v.o.Full)
		switch {
		case err == nil:
			part.Accepted = finding(search.Accepted, nil, sample)
			v.step()
		case v.ctx.Err() == nil:
			return nil, err
		}
	}
	if len(rules) == 0 && part.Accepted == nil {
		return nil, nil
	}
	err = a.InLanes(rules, meters, func(lane *analysis.Analyzer, i int) error { return v.answerRule(lane, rules[i], part.Rules[i]) })
	part.Rules = slices.DeleteFunc(part.Rules, func(r *RulePart) bool { return len(r.answers()) == 0 }) // interrupted
	return part, err
}

// answerRule adds the results for a rule to part. If the context is done, it stops, and the report
// keeps the earlier results.
func (v *versionSearch) answerRule(a *analysis.Analyzer, ref engine.RuleRef, part *RulePart) error {
	for _, want := range v.o.wants() {
		if v.ctx.Err() != nil {
			return nil
		}
		answer, err := a.Ask(v.ctx, ref, want)
		if v.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		part.set(want, finding(want, &ref, answer))
		v.step()
	}
	return nil
}

// MutationPart holds the results for a mutation of a policy.
type MutationPart struct {
	Policy     string         `json:"policy"`
	Mutation   int            `json:"mutation"`
	Expression string         `json:"expression"`
	Location   string         `json:"location,omitempty"`
	Changed    *PolicyFinding `json:"changed,omitempty"`
	// Invalid is about all mutations of the policy. It is set for the first only.
	Invalid *PolicyFinding `json:"invalid,omitempty"`
	Error   *PolicyFinding `json:"error,omitempty"`
}

// mutations adds the results for the mutations that match the version.
func (v *versionSearch) mutations(p *policies.Policies, f *requests.Finder, part *VersionPart) error {
	for _, m := range f.Mutations() {
		at := p.Locate("MutatingAdmissionPolicy", m.Policy, fmt.Sprintf("spec.mutations[%d]", m.Index))
		one := &MutationPart{Policy: m.Policy, Mutation: m.Index, Expression: m.Expression, Location: at}
		wants := []requests.Want{requests.Changed}
		if m.Index == 0 { // all mutations of a policy together can make an object invalid, so this is tested once
			wants = append(wants, requests.Breaks)
		}
		for _, want := range v.o.policyWants(wants) {
			answer, err := f.Find(v.ctx, m, want)
			if err != nil {
				return err
			}
			one.set(want, policyFinding(answer))
			v.step()
		}
		part.Mutations = append(part.Mutations, one)
	}
	return nil
}

func (m *MutationPart) set(want requests.Want, f *PolicyFinding) {
	*map[requests.Want]**PolicyFinding{requests.Changed: &m.Changed, requests.Breaks: &m.Invalid, requests.Fails: &m.Error}[want] = f
}

func (s *Summary) countMutation(m *MutationPart) {
	n := s.policies()
	n.Mutations++
	countFound(map[*int]*PolicyFinding{&n.Changed: m.Changed, &n.Invalid: m.Invalid, &n.Errors: m.Error})
	if m.Changed.unknown() || m.Error.unknown() || m.Invalid.undecided() {
		n.Unknown++
	}
}
