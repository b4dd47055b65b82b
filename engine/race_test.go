//go:build race

package engine_test

// Under the race detector, pools drop items at random.
func init() { poolsLeak = true }
