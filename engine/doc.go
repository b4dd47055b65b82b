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
// object is converted to the storage version and back (coerce.go), which may need a converter
// (convert.go).
//
// The names in the write path that are not upstream's:
//
//   - Engine is a compiled CRD, and crdVersion one of its versions. versionSchema is its compiled
//     schema, and schema.Schema checks values.
//   - Request becomes a write, which holds the state of the request. coercion drops fields and sets
//     metadata as the server's decoder does; StrictError is a finding of strict decoding, and
//     decodeFailure is the response to an object that cannot be decoded.
//   - metadata.Validator checks metadata, server is the API server of a minor, whose behavior differs
//     from others, and openPaths holds the paths whose values may change when the causes of a rejection are
//     fixed.
//   - Rules is a tree of ruleNodes, each with its compiledRules. run is one walk of that tree over
//     an object, and ruleTarget the value that rules are evaluated for. eval.Program is a compiled
//     expression.
//   - tally counts the runs of rules, and WorkLimitError reports too much work. InternalError is a
//     panic that was recovered.
//   - finding is a reason for a rejection with its details; Result lists it as a Cause, and
//     respond.Renderer writes the server's message.
