package minors

import "testing"

func TestRange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      Range
		minor   int
		include bool
	}{
		{Range{}, 28, true},
		{Since(31), 30, false},
		{Since(31), 31, true},
		{Until(31), 30, true},
		{Until(31), 31, false},
		{Range{Since: 30, Until: 33}, 32, true},
		{Range{Since: 30, Until: 33}, 33, false},
	} {
		if got := tt.in.Include(tt.minor); got != tt.include {
			t.Errorf("%+v.Include(%d): got %v", tt.in, tt.minor, got)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	texts := Texts{{Until(30), "old"}, {Range{Since: 30, Until: 32}, "between"}, {Since(33), "new"}}
	for minor, want := range map[int]string{29: "old", 30: "between", 31: "between", 32: "", 33: "new"} {
		if got := texts.For(minor); got != want {
			t.Errorf("%d: got %q, want %q", minor, got, want)
		}
	}
}
