//go:build race

package fakeclient_test

// The race detector takes ten times as long.
func init() { raced = true }
