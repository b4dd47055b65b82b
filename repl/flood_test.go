package repl

import (
	"strings"
	"testing"
)

// TestCompleteBehindFlood checks that completion is bounded after a chain of macros. It computes
// the type of the text before the dot, and each macro multiplies the size of that type.
func TestCompleteBehindFlood(t *testing.T) {
	t.Parallel()
	line := "optional.of(self)" + strings.Repeat(".optMap(x, x)", 60) + "."
	odd(t).Complete(line, len(line))
}
