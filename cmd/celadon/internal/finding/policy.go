package finding

import (
	"slices"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// PolicyDecision is an effect of an admission policy on an object.
type PolicyDecision = policyrequest.Decision

// Deny is the action of a decision that denies the request.
const Deny = "Deny"

// Denied reports whether a policy denies the request.
func (o *Object) Denied() bool {
	return o.Verdict == Invalid && slices.ContainsFunc(o.Policies, func(d PolicyDecision) bool { return d.Action == Deny })
}

// PolicyMutation is a run of a mutating policy on an object. The JSON form is a published contract.
type PolicyMutation struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Params  string `json:"params,omitempty"`
	// Changed is set if the policy changed the object.
	Changed bool `json:"changed"`
	// Excluded is set if matchConditions exclude the object.
	Excluded bool `json:"excluded,omitempty"`
	// Reinvoked is set if the policy ran again.
	Reinvoked bool  `json:"reinvoked,omitempty"`
	Cost      int64 `json:"cost"`
	// Errors holds the errors of mutations.
	Errors []string `json:"errors,omitempty"`
}

// NewPolicyMutation returns the report about an evaluation.
func NewPolicyMutation(e *policy.MutationEvaluation) PolicyMutation {
	m := PolicyMutation{Policy: e.Policy, Binding: e.Binding, Params: e.Params, Changed: e.Changed, Excluded: e.Excluded, Reinvoked: e.Reinvoked, Cost: e.Cost + e.MatchCost}
	if e.Failure != "" {
		m.Errors = append(m.Errors, e.Failure)
	}
	for _, one := range e.Mutations {
		if one.Failure != "" {
			m.Errors = append(m.Errors, one.Failure)
		}
	}
	return m
}
