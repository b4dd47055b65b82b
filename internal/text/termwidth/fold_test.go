package termwidth

import "testing"

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"one two", 0, 2, "one two"},
		{"one two\n", 7, 2, "one two\n"},
		{"one two three\nfour", 8, 2, "one two\n  three\nfour"},
		{"  one  two three", 8, 1, "  one \n   two\n   three"},
		{"日本 語", 5, 0, "日本\n語"},
		{"onetwothree four", 7, 0, "onetwothree\nfour"},
		{"        onetwothree four", 8, 2, "        onetwothree\n    four"},
		{"\x1b[31mone two\x1b[0m three", 5, 0, "\x1b[31mone\x1b[0m\n\x1b[31mtwo\x1b[0m\nthree"},
	} {
		if got := Fold(c.text, c.width, c.hang); got != c.want {
			t.Errorf("Fold(%q, %d, %d) = %q, want %q", c.text, c.width, c.hang, got, c.want)
		}
	}
}
