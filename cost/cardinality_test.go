package cost

import (
	"math"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

func limit(n int64) *int64 { return &n }

func TestCardinality(t *testing.T) {
	t.Parallel()
	d := &types.Decl{MinSize: 2}
	fits := Occurrences(2)
	cases := []struct {
		name string
		c    Cardinality
		want uint64
	}{
		{"root", Cardinality{}, 1},
		{"list", Cardinality{}.List("a", limit(5)), 5},
		{"list in map", Cardinality{}.Map("a", limit(3)).List("a[*]", limit(5)), 15},
		{"empty list", Cardinality{}.List("a", limit(0)).List("a[*]", limit(5)), 0},
		{"negative bound", Cardinality{}.List("a", limit(-1)), 0},
		{"no bound", Cardinality{}.List("a", nil), fits},
		{"no bound above", Cardinality{}.List("a", nil).List("a[*]", limit(5)), fits},
		{"saturated", Cardinality{}.List("a", limit(math.MaxInt64)).List("a[*]", limit(math.MaxInt64)), math.MaxUint64},
	}
	for _, c := range cases {
		if got := c.c.Times(d); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	factors := cases[2].c.Factors
	if len(factors) != 2 || factors[0].Word() != "maxProperties" || factors[1].Word() != "maxItems" || factors[1].Path != "a[*]" {
		t.Errorf("factors %+v", factors)
	}
}

// Siblings must not overwrite each other's factors.
func TestCardinalityShares(t *testing.T) {
	t.Parallel()
	above := Cardinality{}.List("a", limit(2))
	left, right := above.List("l", limit(3)), above.List("r", limit(4))
	if left.Factors[1].Path != "l" || right.Factors[1].Path != "r" {
		t.Errorf("factors %+v and %+v", left.Factors, right.Factors)
	}
}

func TestTotal(t *testing.T) {
	t.Parallel()
	total := NewTotal(Limits{})
	for id, cost := range []uint64{999_999, 40_000_000, 1_000_000, 60_000_000, 2_000_000, 3_000_000} {
		total.Add(id, cost)
	}
	if total.Sum != 106_999_999 || !total.Exceeded() {
		t.Errorf("sum %d, exceeded %v", total.Sum, total.Exceeded())
	}
	want := []Share{{3, 60_000_000}, {1, 40_000_000}, {5, 3_000_000}, {4, 2_000_000}}
	if len(total.Top) != len(want) {
		t.Fatalf("top %v", total.Top)
	}
	for i := range want {
		if total.Top[i] != want[i] {
			t.Errorf("top %v, want %v", total.Top, want)
		}
	}
	total.Add(9, math.MaxUint64)
	if total.Sum != math.MaxUint64 {
		t.Errorf("sum %d: want it to stay at the greatest", total.Sum)
	}
}

func TestExceedsText(t *testing.T) {
	t.Parallel()
	for cost, want := range map[uint64]string{
		10_000_001:    "1.000000x",
		10_485_760:    "1.048576x",
		15_000_000:    "1.5x",
		1_000_000_000: "100.0x",
		1_000_000_001: "more than 100x",
	} {
		if got := excessFactor(cost, 10_000_000); got != want {
			t.Errorf("%d: %s, want %s", cost, got, want)
		}
	}
}
