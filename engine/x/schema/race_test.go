//go:build race

package schema

// The race detector randomly empties pools, including the pools of the regexp package.
func init() { poolsLeak = true }
