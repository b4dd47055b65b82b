package lex

import "testing"

func TestUnfinished(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"": false, "1": false, "1 +": true, "(1": true, "[1,": true, "a.b(": true, "a.b()": false, "'(": false, "'''a": true, "'''a'''": false,
		"a in": true, "in": false, "a ? b :": true, "a // +": false, "a + // b": true, "a.": true, "{'a':": true, ")": false, "r'\\": false,
	} {
		if got := Unfinished(src); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestContinues(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"": false, "1": false, "&& b": true, "  || b": true, ".size()": true, "-1": false, "!a": false, "(a)": false, "[0]": false, "? b : c": true, "// && b": false,
	} {
		if got := Continues(src); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"a":                               "a",
		"  a\n  && b  ":                   "a && b",
		"a  == 'x  y' // why\n && //\n b": "a  == 'x  y' && b",
		"// first\na":                     "a",
		"'''a\nb'''":                      "",
		"'// no comment' +\n\t\"x\"":      "'// no comment' + \"x\"",
		"日本 +\n語":                         "日本 + 語",
	} {
		got, ok := Join(src)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q (%v), want %q", src, got, ok, want)
		}
	}
}
