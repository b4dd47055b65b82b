package position

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

type made struct {
	*rand.Rand
	eol string
}

var words = []string{"self.x", "==", "'a'", "\"b\"", "日本", "😀", "é", "&&", "!has(self.y)", "a:b", "#c", "\\", "{}", "[0]", "🧑‍💻", "-", "x\ty", "%"}

func (m *made) line(sep string) string {
	n := 1 + m.IntN(5)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = words[m.IntN(len(words))]
	}
	return strings.Join(parts, sep)
}

func (m *made) lines() []string {
	lines := make([]string, 1+m.IntN(5))
	for i := range lines {
		if i == 0 || i == len(lines)-1 || m.IntN(4) > 0 {
			lines[i] = m.line([]string{" ", "  ", " \t"}[m.IntN(3)])
		}
	}
	return lines
}

// The scalar follows a key with the given indentation.
func (m *made) scalar(style Style, indent int) string {
	more := strings.Repeat(" ", indent+1+m.IntN(4))
	folded := func(lines []string) string {
		return strings.Join(lines, []string{"", " ", "\t"}[m.IntN(3)]+m.eol+more+[]string{"", "\t"}[m.IntN(2)])
	}
	switch style {
	case Plain:
		text := strings.NewReplacer("#", "", "'", "", "\"", "", "{}", "", "[0]", "", "%", "", ":", "").Replace(folded(m.lines()))
		return "x" + strings.TrimRight(text, " \t\r\n")
	case SingleQuoted:
		return "'" + strings.ReplaceAll(folded(m.lines()), "'", "''") + "'"
	case DoubleQuoted:
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "é", `\u00e9`, "日", `\U000065E5`, "-", `\x2d`, "&&", "&\\"+m.eol+more+"&", "==", `=\t=`).Replace(folded(m.lines()))
		return `"` + text + `"`
	}
	head := map[Style]string{Literal: "|", Folded: ">"}[style]
	by := 1 + m.IntN(4)
	first := ""
	if m.IntN(2) == 0 {
		head += fmt.Sprint(by)
		first = strings.Repeat(" ", m.IntN(3))
	}
	head += []string{"", "-", "+"}[m.IntN(3)] + []string{"", " # why"}[m.IntN(2)]
	pad := strings.Repeat(" ", indent+by)
	lines := m.lines()
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = pad + first + line
		case line == "":
			lines[i] = []string{"", pad}[m.IntN(2)]
		default:
			lines[i] = pad + []string{"", "  ", "\t"}[m.IntN(3)] + line
		}
	}
	return head + m.eol + strings.Join(lines, m.eol) + strings.Repeat(m.eol, m.IntN(3))
}

func TestGeneratedScalars(t *testing.T) {
	t.Parallel()
	m := &made{Rand: rand.New(rand.NewPCG(22, 2))}
	count := map[Style]int{}
	for count[Plain]+count[SingleQuoted]+count[DoubleQuoted]+count[Literal]+count[Folded] < 2000 {
		style := []Style{Plain, SingleQuoted, DoubleQuoted, Literal, Folded}[m.IntN(5)]
		m.eol = []string{"\n", "\r\n"}[m.IntN(2)]
		text := "😀: 1" + m.eol + "r:" + m.eol + "- k: " + m.scalar(style, 2) + m.eol + "  l: end" + m.eol
		d, err := Parse([]byte(text))
		if err != nil {
			continue // for example, the text begins with a tab
		}
		_, n := d.Find(Path{Key("r"), Item(0), Key("k")})
		if _, l := d.Find(Path{Key("r"), Item(0), Key("l")}); n == nil || l == nil || n.Style != style {
			continue
		}
		count[style]++
		if !n.Known {
			t.Errorf("%q: its end is not known", text)
			continue
		}
		exact(t, d, n)
	}
	t.Log(count)
}

func exact(t *testing.T, d *Document, n *Node) {
	t.Helper()
	thereAndBack(t, d, n)
	words, _ := d.Text(n)
	point := 0
	for i, r := range n.Value {
		at := words.Source(i)
		if words.SourcePoint(point) != at || words.Point(at) != point {
			t.Fatalf("%q: code point %d at %d or %d, and back to %d", d.text, point, at, words.SourcePoint(point), words.Point(at))
		}
		p := d.Position(at)
		if back := d.Offset(p.Line, p.Column); back != at {
			t.Fatalf("%q: offset %d at %+v, and back to %d", d.text, at, p, back)
		}
		if got, _ := utf8.DecodeRuneInString(d.text[at:]); got != r && !strings.ContainsRune(" \t\r\n\\'", got) {
			t.Fatalf("%q: %q at %d, want %q", d.text, r, at, got)
		}
		point++
	}
}
