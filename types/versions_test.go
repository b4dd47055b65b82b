package types

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCorrectionsHaveProbes checks that each correction has evidence.
func TestCorrectionsHaveProbes(t *testing.T) {
	folder := os.Getenv("CELADON_VERSIONS")
	for _, c := range corrections {
		if c.probe == "" || (c.overload == "") == (c.field == "") {
			t.Errorf("%+v: want a probe, and either an overload or a field", c)
		}
		if folder == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "probes", c.probe+".yaml")); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
