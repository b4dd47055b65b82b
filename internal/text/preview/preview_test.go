package preview

import (
	"strings"
	"testing"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aé", 2, "a…"}, {"日本", 5, "日…"}, {"日本", 0, "…"}, {"a\xff\xfeb", 3, "a…"},
	} {
		if got := Bytes(c.text, c.n); got != c.want {
			t.Errorf("Bytes(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcdefgh", 7, "ab … gh"}, {"日本語です。よ", 6, "日 … よ"}, {"abcd", 1, " … "},
	} {
		if got := Middle(c.text, c.n); got != c.want {
			t.Errorf("Middle(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "<empty>", "{}": "{}", "[]": "5b5d", "{" + strings.Repeat("x", 40): "{" + strings.Repeat("x", 29) + " ...",
	} {
		if got := Body([]byte(raw)); got != want {
			t.Errorf("Body(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		n    int
		want string
	}{
		{map[string]any{"b": []any{int64(1), nil}, "a": "<&"}, 40, `{"a":"<&","b":[1,null]}`}, {"abcdefgh", 8, `"a … h"`}, {make(chan int), 40, "?"},
	} {
		if got := JSON(c.v, c.n); got != c.want {
			t.Errorf("JSON(%v, %d) = %q, want %q", c.v, c.n, got, c.want)
		}
	}
}
