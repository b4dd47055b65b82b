package eval

import (
	"testing"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// TestNesting checks that a value that is too deep for recursive calls counts as too large.
func TestNesting(t *testing.T) {
	t.Parallel()
	deep := func(levels int) (v ref.Val) {
		v = celtypes.True
		for range levels - 1 {
			v = celtypes.NewRefValList(celtypes.DefaultTypeAdapter, []ref.Val{v})
		}
		return v
	}
	if !SizeAtMost(deep(maxNesting), 1<<30) {
		t.Error("a value with the maximum depth is too large")
	}
	if SizeAtMost(deep(maxNesting+1), 1<<30) {
		t.Error("a value that is too deep is accepted")
	}
}
