//go:build race

package schema

// The race detector empties pools at random, the regexp package's too.
func init() { poolsLeak = true }
