package lex

import (
	"strings"
	"testing"
)

func TestSwallowed(t *testing.T) {
	t.Parallel()
	compiles := func(src string) bool { return !strings.Contains(code(src), "cheap") }
	for src, want := range map[string]string{
		"a // small && b":                         "a // small\n&& b",
		"a // small && cheap":                     "",
		"a // small && cheap && b":                "a // small && cheap\n&& b",
		"a // && b":                               "", // code that is commented out
		"a // x\n&& b":                            "",
		"a // ö, x && b // y && z || c":           "a // ö, x\n&& b // y\n&& z || c",
		"a // or ? b : c":                         "a // or\n? b : c",
		"'// x && y' == a":                        "",
		"a //" + strings.Repeat(" cheap && ", 50): "",
	} {
		if got, _ := Swallowed(src, compiles); got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
	if _, at := Swallowed("ö // x && b", compiles); at != 2 {
		t.Errorf("got %d", at)
	}
}

func code(src string) string {
	var b strings.Builder
	for _, t := range Tokens([]rune(src)) {
		if t.Kind != Comment {
			b.WriteString(t.Text + " ")
		}
	}
	return b.String()
}
