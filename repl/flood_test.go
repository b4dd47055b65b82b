package repl

import (
	"strings"
	"testing"
)

// TestCompleteBehindFlood: completion asks for the type of what stands before the
// dot, and macros can copy that without bound.
func TestCompleteBehindFlood(t *testing.T) {
	t.Parallel()
	line := "optional.of(self)" + strings.Repeat(".optMap(x, x)", 60) + "."
	odd(t).Complete(line, len(line))
}
