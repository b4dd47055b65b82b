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
	// Errors holds the errors of the policy and of its mutations. File and Line locate the first of them.
	Errors []string `json:"errors,omitempty"`
	File   string   `json:"file,omitempty"`
	Line   int      `json:"line,omitempty"`
}

// NewPolicyMutation returns the report about an evaluation. at returns the position of a mutation of a policy, or, if the
// index is -1, of a matchCondition or of the policy.
func NewPolicyMutation(
	e *policy.MutationEvaluation, at func(policy string, index int, condition string) (file string, line int),
) PolicyMutation {
	m := PolicyMutation{Policy: e.Policy, Binding: e.Binding, Params: e.Params, Changed: e.Changed, Excluded: e.Excluded, Reinvoked: e.Reinvoked, Cost: e.Cost + e.MatchCost}
	fails := func(index int, failure string) {
		if failure != "" && m.Errors == nil {
			m.File, m.Line = at(e.Policy, index, e.Condition)
		}
		if failure != "" {
			m.Errors = append(m.Errors, failure)
		}
	}
	fails(-1, e.Failure)
	for i, one := range e.Mutations {
		fails(i, one.Failure)
	}
	return m
}

// A Webhook is an admission webhook whose rules and selectors match a request. Celadon never calls it.
type Webhook struct {
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
	// Called is set if a server calls it.
	Called bool `json:"called"`
	// Condition is the name of the first matchCondition that is false, and Error the error of matchConditions. A server then
	// does not call the webhook.
	Condition string `json:"condition,omitempty"`
	Error     string `json:"error,omitempty"`
	// Undecided is why it is not known whether the webhook is called.
	Undecided string `json:"undecided,omitempty"`
	// File and Line locate the webhook, if they are known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}
