package eval

import (
	"testing"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

func TestSame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
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
			isSame := celvalue.Same(a, b, d, &left)
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

// boxedEqual returns false if the comparison panics, which happens if a map list's key is not a valid key.
func boxedEqual(a, b any, d *types.Decl) (equal bool) {
	defer func() { _ = recover() }()
	x, y := celvalue.New(a, d), celvalue.New(b, d)
	return !celtypes.IsError(x) && !celtypes.IsError(y) && celtypes.Equal(x, y) == celtypes.True
}
