package respond

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWarningsSent(t *testing.T) {
	t.Parallel()
	long := func(c string, n int) string { return strings.Repeat(c, n) }
	tests := []struct {
		name      string
		add, want []string
	}{
		{"each once", []string{"a", "b", "a", ""}, []string{"a", "b"}},
		{"no control characters", []string{"a\tb", "a\nb", "\x7f", "\u0085", "a\u00a0b\u200b\u2028"}, []string{"a\u00a0b\u200b\u2028"}},
		{"no invalid UTF-8", []string{"\xff", "a"}, []string{"a"}},
		{"as much as fits", []string{long("é", 4095), "a"}, []string{long("é", 4095), "a"}},
		{"one too long", []string{long("é", 4097)}, []string{long("é", 256)}},
		{"one more than fits", []string{long("a", 4000), "b", long("c", 100)}, []string{long("a", 256), "b", long("c", 100)}},
		{"what is cut off may be a control character", []string{long("a", 300) + "\n", long("b", 4097)}, []string{long("a", 256), long("b", 256)}},
		{"the same when cut", []string{long("b", 4097), long("b", 4098)}, []string{long("b", 256), long("b", 256)}},
	}
	for _, tt := range tests {
		w := &Warnings{}
		for _, text := range tt.add {
			w.Add(text)
		}
		if got := w.Sent(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %.600q\nwant %.600q", tt.name, got, tt.want)
		}
	}
}

func TestWarningsEnd(t *testing.T) {
	t.Parallel()
	w := &Warnings{}
	for i := range 100_000 {
		w.Add(fmt.Sprint(i, strings.Repeat("x", 300)))
	}
	if len(w.Sent()) != 16 || len(w.known) > 100 {
		t.Errorf("got %d of %d", len(w.Sent()), len(w.known))
	}
	for _, text := range w.Sent() {
		if utf8.RuneCountInString(text) != maxRunesCut {
			t.Errorf("got %d runes", utf8.RuneCountInString(text))
		}
	}
}
