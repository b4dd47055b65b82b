// Package vet reports whether the API server would accept a CRD, and estimates what its rules cost.
//
//	report, err := vet.Vet(ctx, crdJSON, vet.Config{})
//	if !report.Accepted {
//		for _, c := range report.Causes { … c.Field, c.Message … }
//	}
//
// Causes and messages equal the server's; see
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
package vet

// How it works: the API server's own function validates the CRD without its rules, which takes
// little time. Each rule is then compiled once, if the server would compile it, and its errors are
// added. An error in a schema keeps the rules above it from being compiled. A default that violates
// a rule keeps all rules of the schema from being compiled.
