package position

import (
	"fmt"
	"strings"
	"testing"
)

// With quadratic work, the test would not finish.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	merges := "m0: &m0 {x: 1}\n"
	for i := 1; i < 2000; i++ {
		merges += fmt.Sprintf("m%d: &m%d {<<: *m%d}\n", i, i, i-1)
	}
	const large = 100_000
	for name, c := range map[string]struct {
		text     string
		rejected bool
		path     Path
	}{
		"deep flow":             {strings.Repeat("[", large), true, nil},
		"deep flow, closed":     {strings.Repeat("[", large) + strings.Repeat("]", large), true, nil},
		"deep flow, in reach":   {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), false, nil},
		"deep JSON":             {strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000), false, at("a", "a")},
		"deep block":            {strings.Repeat("- ", 9_000) + "a\n", false, at(0, 0)},
		"alias bomb":            {bomb, false, at("a39", 3, 4, 5)},
		"an alias of itself":    {"a: &a [*a]\nb: &b {<<: *b}\n", false, at("a", 0, 0, 0, 0)},
		"merges of merges":      {merges, false, at("m1999", "<<")},
		"a long scalar":         {"a: \"" + strings.Repeat("\\n", 1<<20) + "\"\n", false, at("a")},
		"a long plain scalar":   {"a: " + strings.Repeat("x\n  ", 1<<18) + "x\n", false, at("a")},
		"a long block":          {"a: >\n" + strings.Repeat("  x\n\n", 1<<18), false, at("a")},
		"blank lines":           {"a:" + strings.Repeat("\n # c", 1<<18) + "\n  b: 1\n", false, at("a", "b")},
		"one line of flow":      {"{" + strings.Repeat("é: 1, ", large) + "z: 2}", false, at("z")},
		"flow without blanks":   {"{l: [" + strings.Repeat("a,", 5*large) + "a]}", false, at("l", 5*large)},
		"one line of JSON":      {"[" + strings.Repeat(`"é", `, large) + "1]", false, at(large)},
		"keys of one mapping":   {strings.Repeat("a:\n", large) + "z: 1\n", false, at("z")},
		"anchors and no values": {strings.Repeat("- &a\n", large), false, at(large - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.text))
			if (err != nil) != c.rejected {
				t.Fatalf("refused: %v", err)
			}
			if err != nil {
				return
			}
			if _, n := d.Find(c.path); n == nil {
				t.Errorf("%s is not found", c.path)
			}
			each(d.Root, func(n *Node) {
				d.Position(n.Start)
				if n.Kind == Scalar {
					if text, ok := d.Text(n); ok {
						text.Value(text.Source(len(n.Value) / 2))
					}
				}
			})
			if len(c.path) > 0 {
				_, _ = d.Edit(Set(c.path, "x"))
			}
		})
	}
}

func each(n *Node, do func(*Node)) {
	do(n)
	for _, list := range [][]*Node{n.Keys, n.Items} {
		for _, below := range list {
			each(below, do)
		}
	}
}

func TestHostileBrokenTexts(t *testing.T) {
	t.Parallel()
	const large = 100_000
	for name, text := range map[string]string{
		"quotes that do not close":      "a:\n" + strings.Repeat("  b: \"x\n", large),
		"quotes, each line deeper":      strings.Repeat("'x\n ", 3_000) + "b",
		"quotes below a quote":          "a: \"x\n" + strings.Repeat("   \"x\n", large),
		"quotes on one line":            "a: \"" + strings.Repeat("\"x ", large) + "\n",
		"quotes in brackets":            "{a: " + strings.Repeat("\"x\" y ", large),
		"brackets":                      strings.Repeat("[", large),
		"brackets in lines":             strings.Repeat("[a,\n", large),
		"brackets, then a word":         deeper("a: [", 400) + strings.Repeat("x,", large) + strings.Repeat("]", 401) + " y",
		"braces and keys":               strings.Repeat("{a: ", large),
		"dashes on one line":            strings.Repeat("- ", large) + "'",
		"dashes, each line deeper":      strings.Repeat("-\n", 10) + deeper("- '", 2_000),
		"keys, each line deeper":        deeper("a:\n", 2_000) + "'",
		"words among keys":              strings.Repeat("a\nb: 'x\n", large),
		"plain lines":                   "a: x: y\n" + strings.Repeat("  x\n", large),
		"anchors":                       strings.Repeat("&a ", large) + "'",
		"aliases":                       "a: '\n" + strings.Repeat("- *a\n", large),
		"a block, then less":            "a: |\n     x\n" + strings.Repeat("   x\n", large) + "'",
		"blank lines and quotes":        "a: \"x\n" + strings.Repeat("\n", large) + "  \"y\n",
		"comments":                      "a: \"x\n" + strings.Repeat("# c\n", large),
		"documents":                     strings.Repeat("---\n'", large),
		"tabs":                          strings.Repeat("\ta: 'x\n", large),
		"carriage returns, no newlines": strings.Repeat("a: 'x\r", large),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := ParseTolerant([]byte(text))
			for _, at := range []int{0, len(text) / 2, len(text)} {
				d.At(at)
			}
		})
	}
}

func deeper(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + line + "\n")
	}
	return b.String()
}
