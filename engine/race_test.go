//go:build race

package engine_test

// The race detector empties pools at random.
func init() { poolsLeak = true }
