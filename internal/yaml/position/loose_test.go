package position

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// written holds texts while they are being typed, with | at the cursor. Each has the value expected
// at path.
var written = map[string]struct{ text, path, value string }{
	"quote not closed":         {"a:\n- rule: \"self.x|\n  message: m\n- rule: b\n", "a.[0].rule", "self.x"},
	"quote in a quoted text":   {"a:\n- rule: \"self.x == \"|a\"\"\n  message: m\n", "a.[0].rule", "self.x == \"a\""},
	"quote not closed, lines":  {"a:\n- rule: 'self.x\n    && self.|\n  message: m\n", "a.[0].rule", "self.x && self."},
	"choice in a plain text":   {"a:\n  rule: self.x ? a : b|\n  m: 1\n", "a.rule", "self.x ? a : b"},
	"text after a string":      {"a:\n  rule: 'a' in self.x|\n  m: 1\n", "a.rule", "'a' in self.x"},
	"brackets after a string":  {"a:\n  rule: [1].all(x, x == |)\n", "a.rule", "[1].all(x, x == )"},
	"a word among keys":        {"a:\n  b: 1\n  ru|\n  c: 'x\n", "a.ru", "ru"},
	"a word before keys":       {"a:\n  ru|\n  c: 'x\n", "a.ru", "ru"},
	"nothing after a key":      {"a:\n  rule: |\n  c: 'x\n", "a.rule", ""},
	"nothing in a list":        {"a:\n- |\n- 'x\n", "a.[0]", ""},
	"an empty line of a block": {"a:\n  rule: >\n    self.x\n    |\n  b: 'x\n", "a.rule", "self.x\n"},
	"a key below":              {"a:\n  b: 1\n  |\nc: 'x\n", "a", ""},
	"indented too far":         {"a:\n- rule: self.x\n    message: |m\n", "a.[0].message", "m"},
	"indented by a tab":        {"a:\n\trule: |m\n", "a.rule", "m"},
	"bracket not closed":       {"{\"a\": {\"rule\": \"self.|\n \"m\": 1}}", "a.rule", "self."},
	"windows":                  {"a:\r\n- rule: \"self.x|\r\n  m: 1\r\n", "a.[0].rule", "self.x"},
}

func TestLoose(t *testing.T) {
	t.Parallel()
	for name, c := range written {
		at := strings.Index(c.text, "|")
		if name == "an empty line of a block" {
			at = strings.LastIndex(c.text, "|")
		}
		d := ParseTolerant([]byte(c.text[:at] + c.text[at+1:]))
		s := d.At(at)
		if got := fmt.Sprint(s.Path); d.Broken() == nil || strings.ReplaceAll(got, ".[", "[") != strings.ReplaceAll(c.path, ".[", "[") || s.Node.Value != c.value {
			t.Errorf("%s: %s is %q, want %s is %q (%v)", name, got, s.Node.Value, c.path, c.value, d.Broken())
		}
	}
}

// TestTruncated checks that a truncated file keeps nearly all values before the truncation.
func TestTruncated(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	random := rand.New(rand.NewPCG(22, 1))
	same, all := 0, 0
	rounds := 25
	if level.Long() {
		rounds = 1000
	}
	for range rounds {
		data, err := os.ReadFile(files[random.IntN(len(files))])
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), "\n---\n")
		whole, err := Parse([]byte(text))
		if err != nil {
			continue
		}
		cut := random.IntN(len(text))
		part := ParseTolerant([]byte(text[:cut]))
		line := strings.LastIndexByte(text[:cut], '\n') + 1
		for range 20 {
			at := random.IntN(line + 1)
			a, b := whole.At(at), part.At(at)
			if all++; fmt.Sprint(a.Path, a.Key, a.Node.Start) == fmt.Sprint(b.Path, b.Key, b.Node.Start) {
				same++
			}
		}
	}
	if same*1000 < all*995 {
		t.Errorf("%d of %d positions are unchanged", same, all)
	}
	t.Logf("%d of %d positions are unchanged", same, all)
}

func FuzzLoose(f *testing.F) {
	for _, c := range scalarCases {
		f.Add([]byte(c.text), []byte("\"x"), uint16(3))
	}
	for _, c := range written {
		f.Add([]byte(c.text), []byte("'"), uint16(len(c.text)/2))
	}
	f.Fuzz(func(t *testing.T, text, with []byte, at uint16) {
		d := ParseTolerant(text)
		within(t, d, d.Root)
		i := int(at) % (len(text) + 1)
		edited := append(append(text[:i:i], with...), text[i:]...)
		e := ParseTolerant(edited)
		within(t, e, e.Root)
		for _, offset := range []int{0, i, len(text)} {
			d.At(offset)
		}
		o := &Document{text: string(text), Root: outlined(string(text))}
		o.measure()
		within(t, o, o.Root)
	})
}
