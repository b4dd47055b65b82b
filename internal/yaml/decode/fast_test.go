package decode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// If the time were quadratic, each text would take hours.
func TestFastIsLinear(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"comments":                    "a:\n" + repeat("# c\n") + "  b: 1\n",
		"comments in a plain scalar":  "a: b\n" + repeat("  # c\n") + "  d\n",
		"comments after":              repeat("a: b # c\n"),
		"empty lines":                 "a: b\n" + repeat("\n") + "  c\n",
		"lines of spaces":             "a: b\n" + repeat("        \n") + "  c\n",
		"spaces":                      "a:" + repeat(" ") + "b\n",
		"spaces at the end":           "a: b" + repeat(" ") + "\n",
		"spaces in a key":             "a" + repeat(" ") + ": b\n",
		"indentation":                 "a:\n" + repeat(" ") + "b: 1\n",
		"plain lines":                 "a: b\n" + repeat("  c\n"),
		"plain lines after empty":     "a: b\n" + repeat("  c\n\n\n"),
		"literal lines":               "a: |\n" + repeat("  c\n"),
		"empty lines in a literal":    "a: |\n  b\n" + repeat("\n") + "  c\n",
		"literals":                    "a:\n" + repeat("- |\n  b\n"),
		"quoted lines":                "a: '\n" + repeat("  c\n") + "  '\n",
		"quotes that do not end":      "a: 'b\n" + repeat("  c\n"),
		"quotes in items":             "a:\n" + repeat("- 'b\n  c'\n"),
		"quoted words in items":       "a:\n" + repeat("- 'b'\n"),
		"two quotes":                  "a: '" + repeat("''") + "'\n",
		"escapes":                     "a: \"" + repeat(`\\`) + "\"\n",
		"escaped breaks":              "a: \"b\\\n" + repeat("  c\\\n") + "  d\"\n",
		"a long key":                  repeat("a") + ": b\n",
		"a long key in quotes":        `"` + repeat("a") + "\": b\n",
		"long items":                  "a:\n" + repeat("- "+strings.Repeat("b", 1<<16)+"\n"),
		"items":                       "a:\n" + repeat("- b\n"),
		"items without content":       "a:\n" + repeat("-\n"),
		"lists of an item":            "a:\n" + repeat("- - b\n"),
		"mappings in items":           "a:\n" + repeat("- b: c\n  d: e\n"),
		"keys":                        numbered("k%d: v\n"),
		"keys in brackets":            "a: {" + numbered("k%d: v, ") + "z: v}\n",
		"keys without values":         numbered("k%d:\n"),
		"a key twice":                 numbered("k%d: v\n") + "k0: v\n",
		"dashes":                      repeat("- "),
		"lists in brackets":           "a: " + repeat("["),
		"maps in brackets":            "a: " + repeat("{a: "),
		"items in brackets":           "a: [" + repeat("b, ") + "c]\n",
		"items that do not end":       "a: [" + repeat("b "),
		"numbers":                     "a:\n" + repeat("- 1\n"),
		"a number":                    "a: " + repeat("1") + "\n",
		"a fraction":                  "a: 0." + repeat("1") + "\n",
		"characters":                  "a: " + repeat("é") + "\n",
		"colons":                      "a: " + repeat("b:") + "c\n",
		"number signs":                "a: " + repeat("b#") + "\n",
		"an unusual value at the end": numbered("k%d: v\n") + "z: &a b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			new(reader).fast([]byte(text))
		})
	}
}

// TestFastDepth checks the maximum depth, which also bounds the recursion.
func TestFastDepth(t *testing.T) {
	t.Parallel()
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
		}
		return b.String()
	}
	for name, text := range map[string]func(n int) string{
		"keys":     keys,
		"dashes":   func(n int) string { return strings.Repeat("- ", n) + "a\n" },
		"brackets": func(n int) string { return "- " + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "\n" },
	} {
		for n, want := range map[int]bool{maxDepth: true, maxDepth + 1: false, 10_000: false} {
			if _, ok := new(reader).fast([]byte(text(n))); ok != want {
				t.Errorf("%d %s: %t, want %t", n, name, ok, want)
			}
		}
	}
}

// TestFastMemory checks that a value does not change with the text or with later texts.
func TestFastMemory(t *testing.T) {
	t.Parallel()
	const source = "name: value\nlong: A value that is too long for the table of strings.\nlist: [a, 'b']\nwords:\n- c\n- d e\n  f\ntext: |\n  g\n"
	text := []byte(source)
	var r reader
	got, ok := r.fast(text)
	if !ok {
		t.Fatal("not accepted")
	}
	clear(text)
	for range 1000 {
		r.fast([]byte("other: text\nlist:\n- x\n- y\ntext: |\n  zzzzzzzzz\n"))
	}
	want, err := viaJSON([]byte(source))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
}

func TestSimple(t *testing.T) {
	t.Parallel()
	characters := []string{"\x80", "\xc3", "\xff", "\u0080", "\u0085", "\u009f", "\u00a0", "é", "\u2027", "\u2028", "\u2029", "\ufdff", "\ufe00", "\ufeff", "\uffff", "\U00010000", "😀"}
	for c := range rune(utf8.RuneSelf) {
		characters = append(characters, string(c))
	}
	for _, c := range characters {
		r, _ := utf8.DecodeRuneInString(c)
		want := r == '\n' || r >= ' ' && r < 0x7f || r >= 0xa0 && r < 0xfe00 && r != utf8.RuneError && r != '\u2028' && r != '\u2029' || r > 0xffff
		for before := range 20 {
			for after := range 20 {
				for _, other := range []string{"x", "\n", "~"} {
					text := strings.Repeat(other, before) + c + strings.Repeat(other, after)
					if got := simple([]byte(text)); got != want {
						t.Fatalf("%q: %t, want %t", text, got, want)
					}
				}
			}
		}
	}
}
