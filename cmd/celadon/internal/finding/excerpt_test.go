package finding

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/x/secret"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long, wide := strings.Repeat("x", 300), strings.Repeat("語", 300)
	for name, test := range map[string]struct {
		line    string
		index   int
		hide    int
		secrets secret.Texts
		want    Excerpt
	}{
		"short":       {"  a: 1  ", 2, 1 << 20, nil, Excerpt{"  a: 1", 2}},
		"tabs":        {"\ta: \x1b1", 1, 1 << 20, nil, Excerpt{" a:  1", 1}},
		"blanks":      {"a\v\f\r\u0085\u2028\u00a0\u3000\u202eb", 9, 1 << 20, nil, Excerpt{"a     \u00a0\u3000 b", 9}},
		"begin":       {long, 0, 1 << 20, nil, Excerpt{long[:100] + "…", 0}},
		"end":         {long, 299, 1 << 20, nil, Excerpt{"…" + long[:100], 100}},
		"middle":      {long, 150, 1 << 20, nil, Excerpt{"…" + long[:100] + "…", 26}},
		"wide":        {wide, 150, 1 << 20, nil, Excerpt{"…" + wide[:50*len("語")] + "…", 13}},
		"wide end":    {wide, 299, 1 << 20, nil, Excerpt{"…" + wide[:50*len("語")], 50}},
		"secret":      {"  password: hunter2", 2, 12, nil, Excerpt{"  password: (hidden)", 2}},
		"its item":    {"- hunter2", 2, 2, nil, Excerpt{"- (hidden)", 2}},
		"flow secret": {"x: {password: hunter2, a: 1}", 4, 14, nil, Excerpt{"x: {password: (hidden)", 4}},
		"after it":    {"x: {password: hunter2, a: 1}", 23, 14, nil, Excerpt{}},
		"elsewhere":   {"a: my hunter2", 0, 1 << 20, secret.Texts{"hunter2"}, Excerpt{}},
		"all secret":  {"Hunter2: x", 0, 9, secret.Texts{"hunter2"}, Excerpt{}},
	} {
		if got := NewExcerpt(test.line, test.index, test.hide, 0, test.secrets); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestNarrowExcerpt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	NewExcerpt("  日本語: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, b: 1", 39, 1<<20, 20, nil).show(&b, 7)
	NewExcerpt("{日本語: 1, b: 2}", 9, 1<<20, 20, nil).show(&b, 123456)
	want := "    7 | …aaaaaaaaaaaaaa, b: 1\n      |                  ^\n123456 | {日本語: 1, b: 2}\n       |             ^\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	v := map[string]any{"b": "<x>", "a": []any{"my hunter2", int64(1), "HUNTER2", "hunt", ""}}
	if got, want := Preview(v, secret.Texts{"hunter2"}), `{"a":["(hidden)",1,"(hidden)","(hidden)",""],"b":"<x>"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := []rune(Preview(strings.Repeat("é", 500), nil))
	if len(got) > valueWidth || !strings.Contains(string(got), " … ") {
		t.Errorf("%d characters: %s", len(got), string(got))
	}
}
