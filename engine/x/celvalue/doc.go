// Package celvalue converts decoded JSON to CEL values, with a declaration or without a schema. It
// does not copy the JSON. Tests compare the values with k8s.io/apiserver/pkg/cel/common.
package celvalue
