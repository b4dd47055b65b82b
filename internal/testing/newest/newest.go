// Package newest skips tests that compare with the code in the newest Kubernetes release when an older
// one is linked, as in make window.
package newest

import "testing"

// Skip skips the test if an older release is linked.
func Skip(t testing.TB) {
	t.Helper()
	if !Linked {
		t.Skip("compares with the newest Kubernetes release")
	}
}
