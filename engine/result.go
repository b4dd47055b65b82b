package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Request is one write of one object.
type Request struct {
	// Object is the object in the form that Decode returns. Numbers that are neither int64 nor
	// float64 are an error.
	Object map[string]any
	// OldObject is the object that the write replaces, or nil for a create. If it has a resourceVersion, but no
	// metadata.managedFields, these are assumed to have been hidden; an empty list means that the object has no
	// managedFields.
	OldObject map[string]any
	// Raw is the object as JSON, as an alternative to Object. Duplicate keys are only detected in Raw.
	Raw []byte
	// DuplicateKeys is the error of the YAML decoder about duplicate keys, which Object cannot
	// represent, or nil. The server only sees them in a body that is YAML.
	DuplicateKeys error
	// Namespace and Name are from the request's URL. If they are empty, the object's are used.
	Namespace, Name string
	// Subresource is "", "status", or "scale". For scale, Object is a Scale of autoscaling/v1, or a
	// custom resource with the replicas that kubectl scale requests. Nothing else of either is
	// written.
	Subresource string
	// FieldValidation is "Strict", "Warn", or "Ignore". The default is "Warn", as in the server.
	FieldValidation string
	// Merged is set if Object is the result of server-side apply on the old object, including
	// defaults. The server does not decode such an object again, so it neither prunes it nor
	// removes nulls.
	Merged bool
	// Patched is set if Object is the result of a patch on the old object. The server then removes
	// duplicate owner references later than for an update, and its warning mentions this.
	Patched bool
	// Trace enables Result.Rules.
	Trace bool
	// Ratcheted enables Result.Ratcheted.
	Ratcheted bool
	// Observe, if set, is called after each run of a rule.
	Observe func(RuleRun)
}

// A RuleRun is a run of a rule on a value of an object.
type RuleRun struct {
	Rule *RuleRef
	// Field is the path of the value, in the form that causes use.
	Field string
	// Self is the value, and Old the old value that corresponds to it, or nil, even if the rule does not use
	// oldSelf. Both can share memory with the request; treat them as read-only.
	Self, Old any
	Outcome   RunOutcome
}

// A RunOutcome is the outcome of a RuleRun.
type RunOutcome uint8

const (
	// Passed means that the rule was true.
	Passed RunOutcome = iota
	// Rejected means that the rule was false, so the object is rejected.
	Rejected
	// Ratcheted means that the rule was false for a value that the update does not change, so it
	// only causes a warning.
	Ratcheted
	// Failed means that the rule could not be evaluated completely, so the object is rejected.
	Failed
	// Undecided means that the rule exceeds the work limit.
	Undecided
)

// A Result is the API server's response to a write.
type Result struct {
	// Allowed is set if the write would be persisted.
	Allowed bool
	// Failure is the Status that the server would return: 422 with causes, or 400 or 500 without
	// causes. It is nil if Allowed is set.
	Failure *metav1.Status
	// Causes is sorted, so that the same input produces the same bytes. Each of the server's checks adds at most
	// about ten thousand causes.
	Causes []Cause
	// Warnings holds the server's Warning headers in its order, without duplicates and without warnings that a header
	// cannot carry. After about 4,096 runes in total, each warning is cut to 256 runes, and no more are added once
	// the total is reached again.
	Warnings []string
	// Strict holds the unknown and duplicate fields. They are rejected if FieldValidation is
	// "Strict" and cause warnings if it is "Warn". If it is "Ignore", Strict is empty.
	Strict []StrictError
	// Ratcheted holds the errors that the schema would report for the values of an accepted update, but
	// that the server ignores, without a warning, because the update does not change these values. It is
	// set only if Request.Ratcheted is.
	Ratcheted []Cause
	// Cost is in CEL cost units.
	Cost int64
	// Object is the object as it would be persisted, without metadata that only a server can fill
	// in: managedFields, and uid, creationTimestamp, and resourceVersion unless OldObject has them.
	// It may share memory with the request: treat both as read-only. Object is nil if the write is
	// rejected.
	Object map[string]any
	// Stored is the form that Object has in storage, before the defaults of the storage version are
	// applied. If the CRD converts by a webhook and Config.Converter is nil, it is in the object's
	// own version.
	Stored map[string]any
	// Unread is the reason why the server cannot decode the object, without the text that the
	// handler adds in Failure. It is nil if the server can decode it.
	Unread error
	// Rules holds the result of each rule that ran. It is set only if Request.Trace is.
	// Engine.Rules also returns the rules that have no value in the object.
	Rules []RuleResult
	// Undecided is set if the object is rejected and a rule exceeds the work limit. The server
	// might then return more causes or another message.
	Undecided *WorkLimitError

	// Prepared is the write if it was rejected with causes, or else nil.
	Prepared *Prepared
}

// A Cause is a reason for a rejection: an entry of status.details.causes, with further details.
type Cause struct {
	// Type is the server's internal error type.
	Type field.ErrorType
	// Reason, Field, and Message are exactly the fields of metav1.StatusCause.
	Reason         metav1.CauseType
	Field, Message string
	// Detail is Message without the leading type and value.
	Detail string
	// Value is the rejected value, or nil if the server does not show it.
	Value any
	// Rule is the false or failed rule, or nil if the cause is not a rule.
	Rule *RuleRef
	// Kind identifies causes with a special meaning, so that no program depends on the words of Message.
	Kind CauseKind
}

// A CauseKind identifies causes with a special meaning. Most causes have an empty Kind.
type CauseKind string

// The kinds of causes. Causes of a rejected object have the first two, causes of a rejected CRD the others.
const (
	// CauseRulesSkipped is the remark that rules did not run because of the other causes.
	CauseRulesSkipped CauseKind = "rulesSkipped"
	// CauseOutOfBudget means that the rules together cost more than their limit, so the rest did not run.
	CauseOutOfBudget CauseKind = "outOfBudget"
	// CauseRuleCost means that the estimate of an expression is over its limit.
	CauseRuleCost CauseKind = "ruleCost"
	// CauseTotalCost means that the estimates of all rules together are over their limit, and CauseShareOfCost that an
	// expression contributes to that.
	CauseTotalCost   CauseKind = "totalCost"
	CauseShareOfCost CauseKind = "shareOfCost"
)

// A StrictError is an unknown or duplicate field, or the error of the YAML decoder about all duplicate keys.
type StrictError struct {
	// Field is the path of the field in the server's format, with unescaped keys. It is empty for an error
	// of the YAML decoder.
	Field string
	// Duplicate is set if the object contains a key more than once.
	Duplicate bool
	// Message is the server's message.
	Message string
}

// A RuleRef identifies a rule of a CRD version.
type RuleRef struct {
	// Version is the CRD version. It is empty for rules compiled by CompileRules.
	Version string
	// Path is the rule's schema path, such as "spec.hosts[*]". It is empty for the root.
	Path string
	// Index is the rule's index in x-kubernetes-validations.
	Index int
	// Rule is the source of the expression.
	Rule string
	// OptionalOldSelf is the rule's optionalOldSelf, in versions that have it. If it is set,
	// oldSelf is an optional, and since Kubernetes 1.30, the rule also runs without an old value.
	OptionalOldSelf bool
}

// A RuleResult summarizes the runs of a rule on an object.
type RuleResult struct {
	RuleRef
	// Runs is the number of evaluations.
	Runs int
	// Failed is the number of evaluations that were false or failed.
	Failed int
	// Errors is the number of evaluations in Failed that had an error. Ratcheted is the number of
	// evaluations in Failed that only cause a warning, because the update does not change the
	// value.
	Errors, Ratcheted int
	// Undecided is the number of evaluations that would exceed the work limit. They are not in Failed.
	Undecided int
	// OverBudget is set if the rule ended the evaluation because its cost exceeded a limit.
	OverBudget bool
	// Cost is the cost of all evaluations in CEL cost units, including messageExpression.
	Cost int64
}
