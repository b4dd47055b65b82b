package position

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// scalarCases are documents with a scalar at key "k". source is its source, value its decoded value.
var scalarCases = map[string]struct{ text, source, value string }{
	"plain":                       {"k: a b # c\n", "a b", "a b"},
	"plain, many lines":           {"k: a\n  b  \n\n\n  c\nl: 1\n", "a\n  b  \n\n\n  c", "a b\n\nc"},
	"plain in brackets":           {"{k: a b, l: 1}", "a b", "a b"},
	"plain, lines in brackets":    {"{k: a\n\tb, l: 1}", "a\n\tb", "a b"},
	"plain, windows":              {"k: a\r\n  b\r\nl: 1\r\n", "a\r\n  b", "a b"},
	"plain number":                {"k: 12 \n", "12", "12"},
	"plain url":                   {"k: http://x/y?z#w\n", "http://x/y?z#w", "http://x/y?z#w"},
	"single":                      {"k: 'it''s' # c\n", "'it''s'", "it's"},
	"single, many lines":          {"k: 'a  \n   b\n\n   c'\n", "'a  \n   b\n\n   c'", "a b\nc"},
	"double":                      {`k: "a\tb\u00e9\x41\U0001F600\"\_" # c`, `"a\tb\u00e9\x41\U0001F600\"\_"`, "a\tbéA😀\"\u00a0"},
	"double, escaped line breaks": {"k: \"a \\\n   b\\\n\n  \\ c\"\n", "\"a \\\n   b\\\n\n  \\ c\"", "a b\n c"},
	"double, folded":              {"k: \"a\n\n  b \n  c\"\n", "\"a\n\n  b \n  c\"", "a\nb c"},
	"literal":                     {"k: |\n  a\n   b\n\n  c\n\nl: 1\n", "|\n  a\n   b\n\n  c", "a\n b\n\nc\n"},
	"literal, stripped":           {"k: |- # why\n    a\n    b\n", "|- # why\n    a\n    b", "a\nb"},
	"literal, kept":               {"k: |+\n  a\n\n\nl: 1\n", "|+\n  a\n\n", "a\n\n\n"},
	"literal, indented more":      {"x:\n  k: |2-\n      a\n    b\n", "|2-\n      a\n    b", "  a\nb"},
	"literal, empty lines first":  {"k: |\n\n  a\n", "|\n\n  a", "\na\n"},
	"literal, nothing in it":      {"k: |\nl: 1\n", "|", ""},
	"literal, no line break":      {"k: |\n  a", "|\n  a", "a"},
	"literal, windows":            {"k: |\r\n  a\r\n  b\r\n", "|\r\n  a\r\n  b", "a\nb\n"},
	"literal in a list":           {"k:\n- |\n a\n b\n", "|\n a\n b", "a\nb\n"},
	"literal, tabs":               {"k: |\n  a\tb\n  \tc\n", "|\n  a\tb\n  \tc", "a\tb\n\tc\n"},
	"folded":                      {"k: >\n  a\n  b\n\n  c\n   d\n  e\n", ">\n  a\n  b\n\n  c\n   d\n  e", "a b\nc\n d\ne\n"},
	"folded, stripped":            {"k: >-\n  a &&\n  b\n", ">-\n  a &&\n  b", "a && b"},
	"folded, kept, indented":      {"k: >2+\n    a\n  b\n\n", ">2+\n    a\n  b\n", "  a\nb\n\n"},
	"many bytes a character":      {"é: 1\nk: 日本 😀 x\n", "日本 😀 x", "日本 😀 x"},
	"line separators":             {"k: 'a\u2028b\u0085c'\n", "'a\u2028b\u0085c'", "a\u2028b c"},
	"byte order mark":             {"\ufeffk: a\n", "a", "a"},
	"anchor and tag":              {"k: &x !!str 12 # c\n", "12", "12"},
	"tag first":                   {"k: !!str &x\n  'a'\n", "'a'", "a"},
	"JSON":                        {"{\n \"k\": \"a\\n\\ud83d\\ude00\\u0041é\\/\"\n}", `"a\n\ud83d\ude00\u0041é\/"`, "a\n😀Aé/"},
	"JSON, half a pair":           {`{"k": "a\ud83dx"}`, `"a\ud83dx"`, "a\ufffdx"},
	"JSON, a long key":            {`{"` + strings.Repeat("x", 3000) + `": 1, "k": "a"}`, `"a"`, "a"},
	"JSON number":                 {`{"k" : -1.5e3 }`, "-1.5e3", "-1.5e3"},
	"nothing":                     {"k:\nl: 1\n", "", ""},
	"nothing with an anchor":      {"k: &x\nl: 1\n", "", ""},
	"an alias":                    {"l: &x 'a b'\nk: *x\n", "'a b'", "a b"},
	"merged":                      {"l: &x {k: 'a b'}\n<<: *x\n", "'a b'", "a b"},
	"merged of several":           {"l: [&x {z: 1}, &y {k: a}]\n<<: [*x, *y]\n", "a", "a"},
	"the last of equal keys":      {"k: a\nl: 1\nk: b\n", "b", "b"},
	"a complex key":               {"? k\n: a\n", "a", "a"},
	"after a document":            {"# c\n---\nk: a\n---\nk: b\n", "a", "a"},
}

func TestScalars(t *testing.T) {
	t.Parallel()
	for name, c := range scalarCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			path := Path{Key("k")}
			if strings.HasPrefix(c.text, "x:") {
				path = Path{Key("x"), Key("k")}
			}
			_, n := d.Find(path)
			if n != nil && n.Kind == Sequence {
				n = n.Item(0)
			}
			if n == nil {
				t.Fatal("not found")
			}
			n = n.Resolve()
			if got := c.text[n.Start:n.End]; !n.Known || got != c.source || n.Value != c.value {
				t.Errorf("known %t: source %q, value %q; want source %q, value %q", n.Known, got, n.Value, c.source, c.value)
			}
			thereAndBack(t, d, n)
		})
	}
}

func thereAndBack(t *testing.T, d *Document, n *Node) {
	t.Helper()
	text, ok := d.Text(n)
	if !ok {
		t.Fatalf("%q: no source text for %+v", d.text, *n)
	}
	last := n.Start
	for i := range n.Value {
		at := text.Source(i)
		if at < last || at > len(d.text) {
			t.Fatalf("%q: character %d at %d, the one before at %d", d.text[n.Start:n.End], i, at, last)
		}
		if back := text.Value(at); back != i {
			t.Fatalf("%q: character %d at %d, and back to %d", d.text[n.Start:n.End], i, at, back)
		}
		last = at
		p := d.Position(at)
		if back := d.Offset(p.Line, p.Column); back != at && utf8.ValidString(d.text) {
			t.Fatalf("%q: offset %d at %+v, and back to %d", d.text, at, p, back)
		}
	}
	if text.Source(len(n.Value)) < last {
		t.Fatalf("%q: ends at %d", d.text[n.Start:n.End], text.Source(len(n.Value)))
	}
}
