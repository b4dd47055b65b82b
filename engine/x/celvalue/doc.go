// Package celvalue converts decoded JSON to CEL values according to declarations, without copying it.
// Tests compare the values with those of k8s.io/apiserver/pkg/cel/common.
package celvalue
