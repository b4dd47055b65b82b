// Package policy evaluates the API server's admission policies without a cluster:
// MutatingAdmissionPolicies and ValidatingAdmissionPolicies with their bindings and params, and the
// matchConditions of webhook configurations.
//
//	set, err := policy.Compile(documents, policy.Config{})
//	res, err := set.Evaluate(ctx, policy.Request{Operation: policy.OperationCreate, Resource: …, Kind: …, Object: object})
//	if !res.Allowed {
//		fmt.Println(res.Failure.Message)
//	}
//
// [Set.Mutate] applies the mutating policies first, as the server does.
//
// Decisions, messages, codes, warnings, audit annotations, and costs are the same as in the server. A result that
// depends on objects that are not given, such as a Namespace, is in [Result.Undecided].
package policy

// How it works: Compile decodes each document into the fields that matter (document.go), and
// compiles the expressions of each policy in a scope of its own, because the fields of variables
// have types that differ between policies (compile.go). Evaluate selects the policies and bindings
// that match (match.go), finds params (params.go), and evaluates each combination with a run, which
// owns all memory of an evaluation and is reused (run.go). A run evaluates the expressions in the
// groups of the server: matchConditions, validations, message expressions, and audit annotations.
// Each group evaluates the variables that it uses again. The decisions are then joined into the
// server's response (response.go).
//
// Mutate shares the matching and the run (mutate.go, mutation_run.go). The value of a mutation is merged into the
// object by its schema (apply.go, internal/mergeschema), or applied as a JSON patch (json_patch.go). The result is a
// copy, so that the request never changes.
