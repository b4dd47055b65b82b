package finding

import "slices"

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
