// Package celvalue converts decoded JSON to CEL values according to declarations, without copying it.
// Tests compare the values with k8s.io/apiserver/pkg/cel/common.
package celvalue
