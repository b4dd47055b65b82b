package decode

import (
	"strings"
	"testing"
)

func TestErrorLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"a tab as indentation":          {"a:\n  b: c\n\td: e\n", 3},
		"a tab on the first line":       {"\ta: b\n", 1},
		"a line of one tab":             {"\t\na: b\n", 1},
		"a colon in a value":            {"a: 1\nb: c: d\ne: f\n", 2},
		"a colon on the first line":     {"a: b: c\n", 1},
		"a key that is not indented":    {"a:\n    b: 1\n  c: 2\n", 3},
		"a value instead of a key":      {"a: 1\nb: 2\nc\nd: 3\n", 3},
		"a dash among keys":             {"a: 1\n- b\n", 2},
		"an unclosed double quote":      {"a: 1\nb: \"c\nd: e\nf: g\n", 2},
		"an unclosed quote on line 1":   {"a: \"b\nc: d\n", 1},
		"an unclosed single quote":      {"a: 1\nb:\n  c: 'd\n  e: f\n", 3},
		"an unclosed bracket":           {"a: 1\nb: [c,\n  d\n", 2},
		"an unclosed brace":             {"a: 1\nb: {c: d\n", 2},
		"a bracket too many":            {"a: 1\nb: ]\n", 2},
		"a tag that is not declared":    {"a: 1\nb: !x!y c\n", 2},
		"an unknown escape":             {"a: 1\nb: \"\\q\"\n", 2},
		"an unknown anchor":             {"a: 1\nb: 2\nc: *d\n", 3},
		"a control character":           {"a: 1\nb: \x01\n", 2},
		"invalid UTF-8":                 {"a: 1\n\nb: \xff\n", 3},
		"a vertical tab":                {"a: 1\n\v\n", 2},
		"a reserved character":          {"a: 1\nb: @c\n", 2},
		"a block scalar that is broken": {"a: |\n  b\n c\nd: e\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for before, lines := range map[string]int{"": 0, "# a comment\n": 1, "x: 1\ny: |\n  'text\n": 3, "\ufeff": 0} {
				if lines == 3 && strings.Contains(name, "first line") {
					continue
				}
				text := []byte(before + tt.text)
				_, _, err := Decode(text)
				if err == nil {
					t.Fatalf("%q is valid", text)
				}
				if got := ErrorLine(text, err); got != tt.want+lines {
					t.Errorf("%q: line %d, want %d: %v", text, got, tt.want+lines, err)
				}
			}
		})
	}
}
