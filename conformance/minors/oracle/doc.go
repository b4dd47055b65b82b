// Command oracle validates CRDs and custom resources with the API server's own code. go.mod has the libraries of the
// newest released Kubernetes minor. Each other file next to it, such as 1.28.mod, has the libraries of that minor,
// and a build tag selects the calls that differ:
//
//	GOWORK=off go build -modfile=1.31.mod -tags=minor31 -o oracle-1.31
//	oracle-1.31 < requests.jsonl > answers.jsonl
//
// The program reads one JSON object per line from stdin and writes one JSON object per line to
// stdout, in the same order. A request can have an id, which its response repeats. The result is in
// one of the fields crd, write, schema, and info. Instead, a response has error if the request is
// malformed or a server rejects it before validation, and panic if the libraries panic, as they do
// in a server.
//
// # CRDs
//
//	{"crd": {…}}                  the create of a CRD
//	{"crd": {…}, "oldCRD": {…}}   an update
//	{"crd": {…}, "stored": true}  an update that changes nothing; rules are compiled as stored ones
//
// The response holds the errors and warnings of the registry's strategy, and the rules of each version:
//
//	{"crd": {"errors": [{"type": "FieldValueForbidden", "field": "spec.…", "detail": "…", "value": …, "message": "…"}],
//	 "warnings": ["…"],
//	 "versions": [{"name": "v1", "total": 14, "rules": [{
//	   "path": "openAPIV3Schema.properties[spec]", "index": 0, "rule": "…",
//	   "estimate": 7,          the estimated cost of one evaluation
//	   "messageEstimate": 3,   the estimated cost of messageExpression
//	   "cardinality": 1,       the number of evaluations that fit into a request
//	   "bound": 1,             the number that maxItems and maxProperties permit; absent without bound
//	   "cost": 7,              what counts for the limits: estimate times bound, or times cardinality
//	   "transition": true,     the rule uses oldSelf
//	   "fieldPath": "…",       the normalized fieldPath
//	   "error": "…",           why the rule does not compile; then the numbers are zero
//	   "messageError": "…"}]}]}}
//
// The message of an error is the message of the cause in the server's status, value is the value that the error
// mentions. A version lists its rules in the order in which the server visits them: children first,
// additionalProperties before properties before items. Properties are sorted, because the server visits them in
// random order. The rules of a schema that is not structural are not compiled: the version then has
// structuralErrors. Other errors do not keep rules from being compiled, although the server skips the rules of a
// schema that is invalid otherwise. The total includes messages.
//
// # Writes
//
//	{"crd": {…}, "version": "v1", "object": {…}}                                      a create
//	{"crd": {…}, "version": "v1", "object": {…}, "old": {…}}                          an update
//	{"crd": {…}, "version": "v1", "object": {…}, "old": {…}, "subresource": "status"} a status update
//
// The response is the registry's result, from decoding to validation:
//
//	{"write": {"accepted": false, "code": 422, "message": "…",
//	 "causes": [{"type": "FieldValueInvalid", "field": "spec", "message": "…"}],
//	 "warnings": ["…"], "unknownFields": ["spec.x"],
//	 "cost": 12,           the actual cost of all rules; absent if the server skips them
//	 "persisted": {…}}}    the object as read back, without metadata that a server manages
//
// An exceeded budget has a cost of one more than the budget. CRDs are not validated, so that writes
// can use those that a server would reject. Old objects are decoded like objects in etcd. There are no
// conversions, no admission plugins, and no managedFields. An object without namespace is written to
// namespace default, an update without resourceVersion replaces any old object, and a name that the
// server would generate ends in 00000. The program keeps the last CRD and version: sort writes by CRD.
//
// # Expressions
//
//	{"schema": {…}, "rules": [{"rule": "self > 0", "messageExpression": "…"}], "resource": true, "stored": true}
//
// The response is {"schema": …}, with a version as above. The schema describes a field of a resource,
// or with resource the whole resource. The rules are appended to the rules of the schema. A request can
// have a value and an old value, which are neither pruned nor defaulted nor validated otherwise:
//
//	{"schema": {…}, "rules": […], "object": {…}, "old": {…}}
//
// Then the version has the errors of the rules and their actual cost. Rules on values are compiled as
// stored ones, as in a server:
//
//	{"schema": {…, "errors": [{"type": "FieldValueInvalid", …}], "actualCost": 12}}
//
// # Libraries
//
//	{"info": true}
//
// The response holds the minor, the compatibility version, whose functions and macros new rules can
// use, and the version of each linked module:
//
//	{"info": {"minor": "1.31", "compatibility": "1.30", "modules": {"k8s.io/apiextensions-apiserver": "v0.31.14", …}}}
package main

// How it works. run (main.go) reads requests and handles them: CRDs in crd.go, with their rules in
// rules.go, writes in write.go, and expressions in expressions.go. Most calls have the same form in all
// minors. The others are in the files with build tags: environment*.go, gate*.go, rules_*.go, and strategy*.go.
//
// Writes call the functions of the generic registry with the strategy of custom resources, so they
// depend on nothing that is copied from upstream, with three exceptions, which upstream does not
// export: the decoding of objects (decode.go), the construction of the strategy (serve.go), and the
// options of the CEL validator, which runs a second time to measure its cost
// (validate).
