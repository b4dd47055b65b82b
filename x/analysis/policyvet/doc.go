// Package policyvet analyzes validating and mutating admission policies with their bindings, and
// the matchConditions of webhook configurations. It reports the errors of the API server, the warnings
// of its type checker, the estimated cost of expressions, and lints.
//
//	schemas, err := policyvet.NewSchemas("", crds)
//	reports, err := policyvet.Vet(ctx, documents, policyvet.Config{Schemas: schemas})
//	for _, r := range reports {
//		fmt.Println(r.Kind, r.Name, r.Accepted, r.Lints)
//	}
//
// Use engine/policy to evaluate policies.
package policyvet

// How it works: engine/policy compiles all documents, once for each Kubernetes version, which yields
// the errors. A policy.TypeChecker then checks the expressions of a policy for each kind that its
// resource rules name and whose schema is known (typecheck.go), which also yields estimates.
//
// Lints work on the parsed expressions, without types. Many use one of two analyses: evaluator.go evaluates an
// expression for a request about which little is known, with sets of possible results instead of values, and reads.go
// finds the paths in objects that expressions read. Both follow variables and macros.
