// Package types maps structural schemas to CEL types, values, and environments.
//
// [FromSchema] declares a schema as a tree of [Decl]. A Decl holds the CEL type of a schema node,
// its fields, how its lists compare, and how large its values can be and why. Use it together with
// an environment for a Kubernetes version to check expressions:
//
//	d := types.FromSchema(structural, types.ResourceRoot)
//	env := types.StoredEnv(types.Version{Minor: 33})
//	celEnv, err := env.For(d, false)
//	ast, issues := celEnv.Compile("self.spec.replicas <= 3")
//
// [Value] converts a decoded JSON value to a CEL value according to its declaration, without
// copying it.
//
// The mapping is described in
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules.
// Tests compare it with k8s.io/apiserver/pkg/cel/common.
package types

// How it works: upstream derives declarations and values from the schema in two functions that
// disagree in some cases. For example, they check an object's properties and additionalProperties
// in a different order. A Decl keeps both results: Kind is the type for the checker, repr
// determines the run-time value.
