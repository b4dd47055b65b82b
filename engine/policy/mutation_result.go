package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A MutationResult is the effect of the MutatingAdmissionPolicies on a request.
type MutationResult struct {
	// Allowed is set if no policy denies the request.
	Allowed bool
	// Failure is the Status that the server returns if a policy denies the request.
	Failure *metav1.Status
	// Object is the object after all mutations, in the version of the request. It shares no memory with
	// the request if Changed is set, and is the object of the request otherwise. It is nil if the
	// request has no object, is denied, or is undecided.
	Object map[string]any
	// Changed is set if Object differs from the object of the request.
	Changed bool
	// Evaluations holds a policy, binding, and params object each, in the order in which they run:
	// those that match the request, including those that matchConditions exclude. A policy that runs
	// again has two.
	Evaluations []MutationEvaluation
	// MatchCost is the cost of all matchConditions in CEL cost units. It includes those that the server
	// evaluates again for policies that do not run again.
	MatchCost int64
	// Undecided holds the evaluation whose result only a cluster knows. Later evaluations depend on
	// it, so they do not run. If Failure is set too, an earlier policy denies the request in any case.
	Undecided []Undecided
	// Work is the work of the mutations, in units of about a nanosecond. It does not depend on the machine.
	Work int64
}

// A MutationEvaluation is the evaluation of a policy with a binding and a params object.
type MutationEvaluation struct {
	Policy, Binding string
	// Params is the namespace and name, or the name, of the params object. It is "" without params.
	Params string
	// Reinvoked is set if the policy runs again because a mutation came after its first run.
	Reinvoked bool
	// Excluded and Condition are as in Evaluation.
	Excluded  bool
	Condition string
	// MatchCost is the cost of matchConditions in CEL cost units, and Cost the cost of all mutations.
	// The budget limits each mutation.
	Cost, MatchCost int64
	// Mutations holds the results of the mutations. It is empty if the policy does not run.
	Mutations []MutationOutcome
	// Changed is set if a mutation changed the object. If it is not, the policy had no effect.
	Changed bool
	// Failure is the server's error if the binding or its matchConditions cannot be evaluated.
	Failure string
	// Ignored is set if failurePolicy is Ignore, so failures have no effect.
	Ignored bool
}

// A MutationOutcome is the result of a mutation.
type MutationOutcome struct {
	PatchType PatchType
	// Changed is set if the mutation changed the object.
	Changed bool
	// TestFailed is set if a test operation of a JSON patch failed. The patch then has no effect.
	TestFailed bool
	// Failure is the server's error if the mutation failed. Later mutations of the policy still run.
	Failure string
	// Cost is in CEL cost units.
	Cost int64
}
