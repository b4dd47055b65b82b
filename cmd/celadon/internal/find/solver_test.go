package find

import (
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
)

// TestSolverFromNoFile: what a tree brings along starts no program.
func TestSolverFromNoFile(t *testing.T) {
	t.Parallel()
	if class, ok := config.Keys("find")["solver"]; ok && class != config.Never {
		t.Errorf("a configuration file may set --solver: class %d", class)
	}
}
