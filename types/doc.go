// Package types maps structural schemas to CEL types.
//
// [FromSchema] declares a schema as a tree of [Decl]. A Decl holds the CEL type of a schema node,
// its fields, how its lists compare, and how large its values can be and why:
//
//	d := types.FromSchema(structural, types.ResourceRoot)
//	replicas := d.Fields["spec"].Decl.Fields["replicas"].Decl
//	fmt.Println(replicas.Kind == types.Int, replicas.Max.Source)
//
// To compile and evaluate expressions over such declarations, use package engine, or package
// engine/x/celgo together with cel-go.
//
// The mapping is described in
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules.
// Tests compare it with k8s.io/apiserver/pkg/cel/common.
package types

// How it works: upstream derives declarations and values from the schema in two functions that
// disagree in some cases. For example, they check an object's properties and additionalProperties
// in a different order. A Decl keeps both results: Kind is the type for the checker, Form
// determines the run-time value.
