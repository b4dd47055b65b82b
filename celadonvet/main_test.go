package celadonvet_test

import (
	"os"
	"testing"
)

// TestMain disables the workspace, because it does not contain the module in testdata.
func TestMain(m *testing.M) {
	os.Setenv("GOWORK", "off")
	os.Exit(m.Run())
}
