package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestIndent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `[]`, `{"a":[1,{"b\"":"[[[{{,"}]}`, `"x"`, `{"a":{},"b":[]}`} {
		var got, want bytes.Buffer
		if err := json.Indent(&want, []byte(text), ">", "  "); err != nil {
			t.Fatal(err)
		}
		if err := Indent(&got, []byte(text), ">", "  "); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v\n%s\nwant\n%s", text, err, got.String(), want.String())
		}
	}
	deep := strings.Repeat(`{"a":`, 9_900) + "1" + strings.Repeat("}", 9_900)
	var got bytes.Buffer
	if err := Indent(&got, []byte(deep), "", "  "); err != nil || got.String() != deep {
		t.Errorf("a deep text of %d bytes has %d after indentation, %v", len(deep), got.Len(), err)
	}
}

func TestStringEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`"" x`: 2, `"a", "b"`: 3, `"a\"b" `: 6, `"a\\" "`: 5, `"\u0041é" `: 10, `"no end`: 7, `"cut\`: 5, `"`: 1, "\"line\n\" ": 7,
	} {
		if got := StringEnd([]byte(text), 0); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
