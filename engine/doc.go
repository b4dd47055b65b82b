// Package engine implements the API server's validation of custom resources without a cluster:
// given a CustomResourceDefinition, it decides whether the server would accept an object.
//
//	e, err := engine.CompileCRD(crd, engine.Config{})
//	res, err := e.ValidateYAML(ctx, object, nil)
//	if !res.Allowed {
//		fmt.Println(res.Failure.Message)
//	}
//
// [Compile] and [CompileCRD] compile a whole CRD. [Engine.Validate] performs the whole write path:
// pruning, defaulting, and checks of schema, metadata, list types, and rules. [Engine.ValidateYAML] and
// [Engine.ValidateTyped] do the same for YAML and for Go types. [CompileSchema] compiles a schema that
// belongs to no CRD. [CompileRules] and [Rules.Validate] evaluate x-kubernetes-validations only, as a
// replacement for the API server's own rule validator.
//
// Three kinds of failure are kept apart. An invalid rule is a [CompileError], a rejected object is
// described by the [Result], and a canceled context or an internal error is returned as an error.
package engine

// How it works: Compile turns each version into a structural schema, its declarations, and a tree
// of rules that mirrors the schema. Validate prepares a copy of the object (decode.go, coerce.go),
// checks it in the server's order (validate.go), and runs the rule tree (walk.go). An accepted
// object is converted to the storage version and back (persist.go), which may need a converter
// (convert.go).
