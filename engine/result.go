package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Request is one write of one object.
type Request struct {
	// Object is the object as Decode gives it; it is never modified. A number
	// that is neither int64 nor float64 is an error of the caller.
	Object map[string]any
	// OldObject is what the write replaces; nil is a create. Without
	// metadata.managedFields it is taken for an object that was shown without
	// them; with an empty list, for one that has none.
	OldObject map[string]any
	// Raw stands instead of Object: its JSON also shows duplicate keys.
	Raw []byte
	// Namespace and Name are those of the request's URL where they can differ
	// from the object's; "" is the object's own.
	Namespace, Name string
	// Subresource is "", "status" or "scale". The Object of scale is a Scale of
	// autoscaling/v1, or a custom resource: then its replicas are what kubectl
	// scale asks for. Nothing else of either is written.
	Subresource string
	// FieldValidation is "Strict", "Warn" or "Ignore"; "" is "Warn", the
	// server's default.
	FieldValidation string
	// Merged says that Object is what server-side apply made of the old object and
	// of what was sent, defaults included: the server decodes it no more, and so
	// neither prunes it nor takes nulls out.
	Merged bool
	// Patched says that Object is what a patch made of the old object, as Merged
	// does of apply: of a patch the server drops duplicate owner references later,
	// and says so.
	Patched bool
	// Trace asks for Result.Rules.
	Trace bool
	// Observe, where it is set, is called behind each run of a rule.
	Observe func(RuleRun)
}

// RuleRun is one run of a rule at one place of an object.
type RuleRun struct {
	Rule *RuleRef
	// Field is where it ran, as causes name places.
	Field string
	// Self and Old are what the rule saw; Old is nil where there is none. They
	// share memory with the request: treat them as read-only.
	Self, Old any
	Outcome   RunOutcome
}

// RunOutcome is what a run of a rule came to.
type RunOutcome uint8

const (
	// Passed: the rule was true.
	Passed RunOutcome = iota
	// Refused: the rule was false, and so refused the object.
	Refused
	// Ratcheted: the rule was false over what an update leaves alone, and so
	// only warned.
	Ratcheted
	// Failed: the rule could not be evaluated to the end, and so refused.
	Failed
	// Undecided: the rule asks for more work than is done.
	Undecided
)

// Result is what the API server would answer.
type Result struct {
	// Allowed is true when the write would be persisted.
	Allowed bool
	// Failure is the Status that the server would return: 422 with causes, or
	// 400 without any. Nil when allowed.
	Failure *metav1.Status
	// Causes are sorted, so that the same input gives the same bytes. There are
	// no more than some ten thousand, with some 16 MiB of text.
	Causes []Cause
	// Warnings are the server's Warning headers, in its order: each text once,
	// none with a control character, and none after some 4,096 runes; of what
	// is longer than that in all, each is cut after 256.
	Warnings []string
	// Strict are the unknown and duplicate fields that strict field validation
	// refuses, and that others are warned of; none under "Ignore".
	Strict []StrictError
	// Cost is the number of CEL cost units spent on this object.
	Cost int64
	// Object is the object as it would be persisted, without metadata that only a
	// server can fill in: managedFields, and uid, creationTimestamp, and
	// resourceVersion unless OldObject has them. It may share memory with the
	// request: treat both as read-only. Object is nil if the write is rejected.
	Object map[string]any
	// Stored is the form that Object has in storage, before that version's
	// defaults. Where a webhook converts and there is no Config.Converter it is in
	// the object's own version.
	Stored map[string]any
	// Unread is why the server cannot decode the object, without what a handler
	// says around it in Failure. Nil where it can.
	Unread error
	// Rules tells of each rule that ran; filled when Request.Trace is set.
	Rules []RuleResult
	// Undecided is set where, beside what refuses the object, a rule asks for
	// more work than is done: there may be more causes, or another message.
	Undecided *WorkLimitError

	prepared *Prepared
}

// Cause is one reason for a refusal: an entry of status.details.causes, and
// what the server knows beyond it.
type Cause struct {
	// Type is the server's internal error type.
	Type field.ErrorType
	// Reason, Field and Message are exactly those of metav1.StatusCause.
	Reason         metav1.CauseType
	Field, Message string
	// Detail is Message without the type and the value before it.
	Detail string
	// Value is the refused value; nil where the server shows none.
	Value any
	// Rule is the rule that refused; nil when something else did.
	Rule *RuleRef
}

// StrictError is one unknown or duplicate field.
type StrictError struct {
	// Field is its path, as the server writes it: a key stands there as it is.
	Field string
	// Duplicate is true for a key that its object has twice.
	Duplicate bool
	// Message is the server's text.
	Message string
}

// RuleRef names one rule of one CRD version.
type RuleRef struct {
	// Version is the CRD version; "" in rules compiled by CompileRules.
	Version string
	// Path is the rule's place in the schema, as "spec.hosts[*]"; "" is the
	// root.
	Path string
	// Index is the rule's position in x-kubernetes-validations there.
	Index int
	// Rule is the expression itself.
	Rule string
	// OptionalOldSelf is true for a rule that runs without an old value too, and
	// whose oldSelf is an optional.
	OptionalOldSelf bool
}

// RuleResult tells of one rule over one object.
type RuleResult struct {
	RuleRef
	// Runs is how often the rule was evaluated.
	Runs int
	// Failed is how many of these were false, or failed to evaluate.
	Failed int
	// Cost is the number of CEL cost units of all runs, messageExpression
	// included.
	Cost int64
}
