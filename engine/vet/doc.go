// Package vet answers whether the API server would accept a CRD, and what its
// rules may cost.
//
//	report, err := vet.Vet(ctx, crdJSON, vet.Config{})
//	if !report.Accepted {
//		for _, c := range report.Causes { … c.Field, c.Message … }
//	}
//
// The verdict is the server's own, word for word; see
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
package vet

// How it works: the API server's own function validates the CRD without its
// rules, which takes little time. The rules are then compiled once each, at the
// places where the server would compile them, and what that function would have
// said of them is added: an error in a schema keeps the rules above it from
// being compiled, a default that its rules refuse keeps all of them from it.
