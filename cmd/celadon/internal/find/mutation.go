package find

import (
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

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
		for _, want := range v.o.mutationWants(m.Index) {
			answer, err := f.FindMutation(v.ctx, m, want)
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

// mutationWants returns the selected outcomes of a mutation. All mutations of a policy together can make an object
// invalid, so this is tested once.
func (o *Options) mutationWants(index int) (wants []requests.Want) {
	if o.Want != "error" {
		wants = append(wants, requests.Changed)
		if index == 0 {
			wants = append(wants, requests.Breaks)
		}
	}
	if o.Want != "refused" {
		wants = append(wants, requests.Fails)
	}
	return wants
}

func (m *MutationPart) set(want requests.Want, f *PolicyFinding) {
	switch want {
	case requests.Changed:
		m.Changed = f
	case requests.Breaks:
		m.Invalid = f
	default:
		m.Error = f
	}
}

func (s *Summary) countMutation(m *MutationPart) {
	if s.Policies == nil {
		s.Policies = &PolicySummary{}
	}
	found := func(f *PolicyFinding) bool { return f != nil && f.Status == search.Found }
	s.Policies.Mutations++
	if found(m.Changed) {
		s.Policies.Changed++
	}
	if m.Changed.unknown() || m.Error.unknown() || m.Invalid.undecided() {
		s.Policies.Unknown++
	}
	if found(m.Invalid) {
		s.Policies.Invalid++
	}
	if found(m.Error) {
		s.Policies.Errors++
	}
}

// name identifies a mutation.
func (m *MutationPart) name() string {
	return fmt.Sprintf("policy %s, spec.mutations[%d]", m.Policy, m.Mutation)
}

func (m *MutationPart) expression() string { return m.Expression }

// answers returns the results for the mutation, in order.
func (m *MutationPart) answers() []policyAnswer {
	return worded(policyAnswer{"is changed", m.Changed}, policyAnswer{"is changed by the policy and then rejected by the CRD", m.Invalid}, policyAnswer{"makes the policy fail", m.Error})
}
