package finding

import (
	"slices"

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
