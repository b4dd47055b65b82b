package celadonvet_test

import (
	"os"
	"testing"
)

// TestMain leaves the workspace, in which the module in testdata is not.
func TestMain(m *testing.M) {
	os.Setenv("GOWORK", "off")
	os.Exit(m.Run())
}
