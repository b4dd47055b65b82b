package finding

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/policy"
)

// PolicyDecision is an effect of an admission policy on an object. A decision with several actions
// has an entry for each. The JSON form is a published contract.
type PolicyDecision struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Kind    string `json:"kind"`
	// Params is the name of the params object, after its namespace if it has one.
	Params string `json:"params,omitempty"`
	// Validation is the index in spec.validations, or -1 if the decision is about the policy as a
	// whole.
	Validation int `json:"validation"`
	// Action is Deny, Warn, or Audit. It is "" if an expression fails and failurePolicy is Ignore.
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Error is set if an expression could not be evaluated.
	Error bool  `json:"error"`
	Cost  int64 `json:"cost"`
	// Expression is the validation's expression, at File and Line.
	Expression string `json:"expression,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	// Values are the values that the expression read, if requested.
	Values []Value `json:"values,omitempty"`
}

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

// SetStatus sets the status and causes of a denied object.
func (o *Object) SetStatus(status *metav1.Status) {
	o.Status = &Status{Code: status.Code, Reason: string(status.Reason), Message: status.Message}
	if status.Details == nil {
		return
	}
	for _, cause := range status.Details.Causes {
		o.Causes = append(o.Causes, Cause{Reason: string(cause.Type), Field: cause.Field, Message: cause.Message})
	}
}
