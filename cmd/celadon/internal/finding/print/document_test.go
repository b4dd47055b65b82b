package print

import (
	"strings"
	"testing"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	const note = "# shortened: -o json has the whole object\n"
	items := make([]any, 10000)
	for i := range items {
		items[i] = int64(i)
	}
	var deep any = "x"
	wide := map[string]any{}
	for i := range 1000 {
		deep = map[string]any{"a": deep}
		wide[strings.Repeat("k", i)] = "v"
	}
	for _, c := range []struct {
		name  string
		value any
		want  []string
	}{
		{"short", strings.Repeat("é", maxExampleText), []string{"a: é"}},
		{"string", strings.Repeat("x", 32767) + "y", []string{"a: xxx", "x\n  … x", "xy\n  (32768 characters)\n", note}},
		{"list", items, []string{"- 0\n", "- 9\n- … 9980 more items …\n- 9990\n", "- 9999\n" + note}},
		{"below a list", []any{map[string]any{"b": strings.Repeat("x", 1000)}}, []string{"(1000 characters)\n", note}},
		{"deep", deep, []string{"a:\n  a:\n", "a: …\n" + note}},
		{"wide", wide, []string{"  kk: v\n", note}},
	} {
		text := Document(map[string]any{"a": c.value})
		if len(text) > maxExampleBytes+len(note) || strings.Contains(text, note) != (c.name != "short") {
			t.Errorf("%s: %d bytes: %.200q", c.name, len(text), text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %q in %.400q", c.name, want, text)
			}
		}
	}
}
