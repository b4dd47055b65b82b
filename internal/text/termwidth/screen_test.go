package termwidth

import "testing"

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"…±×", 3, "…±×"}, {"abc", 0, ""},
	} {
		got := Cut(c.text, c.columns)
		if got != c.want || Width(got) > c.columns {
			t.Errorf("Cut(%q, %d) = %q of %d columns, want %q", c.text, c.columns, got, Width(got), c.want)
		}
	}
}

func TestCutLeft(t *testing.T) {
	t.Parallel()
	if got := CutLeft("abcdef", 2); got != "…def" {
		t.Error(got)
	}
}
