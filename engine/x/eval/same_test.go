package eval

import (
	"testing"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// TestSame holds types.Same against the equality of boxed values: what it
// calls the same is equal.
func TestSame(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	same, equal := 0, 0
	for seed := range uint64(3000) {
		g := newGenerator(seed, "'a' 'b'", float64(seed%4)*0.01)
		for _, name := range decl.FieldNames() {
			d := decl.Fields[name].Decl
			a := g.some(d, 1)
			b := a
			if g.rand.IntN(3) == 0 {
				b = g.some(d, 1)
			}
			isEqual := boxedEqual(a, b, d)
			left := MaxWork
			isSame := types.Same(a, b, d, &left)
			if isSame && !isEqual {
				t.Errorf("%s: same but not equal: %v and %v", name, a, b)
			}
			if isSame {
				same++
			}
			if isEqual {
				equal++
			}
		}
	}
	if same == 0 || same < equal/2 {
		t.Errorf("%d of %d equal pairs are the same", same, equal)
	}
}

// boxedEqual is false where equality panics: keys of a map list can be no keys.
func boxedEqual(a, b any, d *types.Decl) (equal bool) {
	defer func() { _ = recover() }()
	x, y := types.Value(a, d), types.Value(b, d)
	return !celtypes.IsError(x) && !celtypes.IsError(y) && celtypes.Equal(x, y) == celtypes.True
}
