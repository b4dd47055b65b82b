// Package celenv creates the CEL environments of rules, and parses and checks expressions in them:
//
//	d := types.FromSchema(structural, types.ResourceRoot)
//	env := celenv.StoredRules(types.Version{Minor: 33})
//	celEnv, checked, err := env.Compile(d, false, "self.spec.replicas <= 3")
//
// Each Kubernetes version has the environments of its API server.
package celenv
