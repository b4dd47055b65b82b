package preview

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
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

// FuzzJSON compares JSON with the output of encoding/json, shortened afterward.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`null`, `-1.50`, `"a<b>&\u0000é\ud800"`, `[]`, `{}`, `[[],{},"",0]`, `{"b":[1,2,{"c":null}],"a":"日本語"}`,
		`{"` + strings.Repeat("k", 50) + `":"` + strings.Repeat("\\n", 50) + `"}`,
		`[` + strings.Repeat(`{"x":["y"]},`, 50) + `1]`,
	} {
		for _, n := range []int{0, 3, 8, 20, 120, 10000} {
			f.Add(text, n)
		}
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var v any
		if n < 0 || n > 1<<20 || dec.Decode(&v) != nil {
			return
		}
		got, want := JSON(v, n), Middle(encoded(v), n)
		if got != want {
			t.Errorf("JSON(%s, %d) = %q, want %q", text, n, got, want)
		}
		if w := utf8.RuneCountInString(got); w > max(n, utf8.RuneCountInString(gap)) {
			t.Errorf("%d characters, want %d", w, n)
		}
	})
}

// TestJSONBound checks that the work for a large value depends only on the part that is shown.
func TestJSONBound(t *testing.T) {
	list := make([]any, 1<<20)
	for i := range list {
		list[i] = strings.Repeat("x", 10)
	}
	value := map[string]any{"first": list, "text": strings.Repeat("é", 8<<20)}
	allocated := testing.AllocsPerRun(3, func() {
		if got := JSON(value, 40); got != `{"first":["xxxxxxx … éééééééééééééééé"}` {
			t.Fatal(got)
		}
	})
	if allocated > 200 {
		t.Errorf("%v allocations", allocated)
	}
}

func TestJSONOfWhatIsNone(t *testing.T) {
	t.Parallel()
	if got := JSON([]any{make(chan int)}, 40); got != "[?]" {
		t.Error(got)
	}
}
