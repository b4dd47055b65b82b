package repl

import (
	"strings"
	"testing"
)

// TestCompleteBehindFlood completes after a chain of macros, which must not take long. Completion checks the
// expression before the dot, and each optMap copies its operand.
func TestCompleteBehindFlood(t *testing.T) {
	t.Parallel()
	line := "optional.of(self)" + strings.Repeat(".optMap(x, x)", 60) + "."
	odd(t).Complete(line, len(line))
}
