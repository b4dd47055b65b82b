// Package engine decides objects as the Kubernetes API server does: a
// CustomResourceDefinition in, a verdict on each object out, without a cluster.
//
//	e, err := engine.Compile(crd, engine.Config{})
//	obj, err := engine.Decode(data)
//	res, err := e.Validate(ctx, engine.Request{Object: obj})
//	if !res.Allowed {
//		fmt.Println(res.Failure.Message)
//	}
//
// [Compile] takes a whole CRD and [Engine.Validate] does the whole write path:
// pruning, defaulting, schema, metadata, list types and rules.
// [CompileRules] and [Rules.Validate] do only x-kubernetes-validations, in
// place of the API server's own rule validator.
//
// Three failures are never mixed: a bad rule is a [CompileError], a bad object
// is data in a [Result], and a cancelled context or a bug of ours is an error.
package engine

// How it works: Compile makes of each version a structural schema, its
// declarations and a tree of rules that mirrors the schema. Validate prepares
// a copy of the object (decode.go, coerce.go), checks it in the server's order
// (validate.go), runs the rule tree (walk.go), and passes what it accepts
// through the storage version's schema (persist.go), which may be a matter of a
// converter (convert.go).
