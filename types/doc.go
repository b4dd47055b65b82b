// Package types maps structural schemas onto CEL types.
//
// A [Decl] is what CEL knows of one schema node: its kind, its fields, how two
// lists compare, and how large a value may be and why. [FromSchema] builds the
// tree once for a schema; everything above this package reads it instead of
// the schema:
//
//	d := types.FromSchema(structural, types.ResourceRoot)
//	env := types.StoredEnv(types.Version{Minor: 33})
//	celEnv, err := env.For(d, false)
//	ast, issues := celEnv.Compile("self.spec.replicas <= 3")
//
// [Value] gives CEL a decoded JSON value as its declaration says, without
// copying it.
//
// The mapping is the one of
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules,
// held in tests against k8s.io/apiserver/pkg/cel/common.
package types

// How it works: upstream derives a declaration type and a value from the
// schema by two functions that do not quite agree (an object's properties and
// its additionalProperties are looked at in a different order). A Decl keeps
// both answers: Kind is what the checker sees, repr what a value does.
