package repl

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlText changes single values in a YAML or JSON text and leaves every other
// byte as it is. Nothing is encoded again: a change is put in at the place of a
// node.
type yamlText struct {
	text  string
	root  *yaml.Node
	lines []int // offset of each
	eol   string
	json  bool
}

// splice replaces text[start:end].
type splice struct {
	start, end int
	text       string
}

func (s splice) in(text string) string { return text[:s.start] + s.text + text[s.end:] }

func parseYAML(text []byte) (*yamlText, error) {
	t := &yamlText{text: string(text), eol: "\n"}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, errors.New("no YAML document")
	}
	t.root = doc.Content[0]
	t.json = strings.HasPrefix(strings.TrimSpace(t.text), "{")
	if strings.Contains(t.text, "\r\n") {
		t.eol = "\r\n"
	}
	t.lines = append(t.lines, 0)
	for i := 0; i < len(t.text); {
		n := lineBreak(t.text[i:])
		if n > 0 {
			t.lines = append(t.lines, i+n)
		}
		i += max(n, 1)
	}
	return t, nil
}

// lineBreak is the length of the line break that s begins with, as YAML 1.1
// knows them; 0 for none.
func lineBreak(s string) int {
	switch s[0] {
	case '\n':
		return 1
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return 2
		}
		return 1
	case 0xc2, 0xe2:
		for _, b := range []string{"\u0085", "\u2028", "\u2029"} {
			if strings.HasPrefix(s, b) {
				return len(b)
			}
		}
	}
	return 0
}

// offset is where a node begins.
func (t *yamlText) offset(n *yaml.Node) int {
	i := t.lines[n.Line-1]
	for column := 1; column < n.Column && i < len(t.text); column++ {
		_, size := utf8.DecodeRuneInString(t.text[i:])
		i += size
	}
	return i
}

// line is a line's text without its end; number counts from 1.
func (t *yamlText) line(number int) string {
	start, end := t.lines[number-1], len(t.text)
	if number < len(t.lines) {
		end = t.lines[number]
	}
	return strings.TrimRight(t.text[start:end], "\r\n\u0085\u2028\u2029")
}

// lineEnd is the offset where a line's text ends.
func (t *yamlText) lineEnd(number int) int { return t.lines[number-1] + len(t.line(number)) }

func blankLine(line string) bool { return strings.TrimSpace(line) == "" }

func commentLine(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// lastLine is the last line of what begins on the given one and whose other
// lines are indented by at least least. Blank lines at its end are not of it.
func (t *yamlText) lastLine(first, least int) int {
	last := first
	for n := first + 1; n <= len(t.lines); n++ {
		line := t.line(n)
		switch {
		case blankLine(line):
			continue
		case indentOf(line) >= least && line[0] != '\t':
			last = n
		case commentLine(line):
			continue
		default:
			return last
		}
	}
	return last
}

// get is the value of a mapping's key, with the key.
func get(m *yaml.Node, key string) (k, v *yaml.Node, index int) {
	if m.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if m.Content[i].Value == key && m.Content[i].Kind == yaml.ScalarNode {
				return m.Content[i], m.Content[i+1], i
			}
		}
	}
	return nil, nil, -1
}

// find follows keys and positions from the root.
func (t *yamlText) find(path ...any) (*yaml.Node, error) {
	n := t.root
	for _, step := range path {
		var below *yaml.Node
		switch step := step.(type) {
		case string:
			_, below, _ = get(n, step)
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				below = n.Content[step]
			}
		}
		if below == nil {
			return nil, fmt.Errorf("the text has no %v where it should", step)
		}
		if below.Kind == yaml.AliasNode {
			return nil, fmt.Errorf("line %d: %v is an alias, *%s: edit what it stands for by hand", below.Line, step, below.Value)
		}
		n = below
	}
	return n, nil
}

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// end is where a scalar or a flow collection ends; a scalar may hold line
// breaks.
func (t *yamlText) end(n *yaml.Node, inFlow bool, indent int) (int, error) {
	start := t.offset(n)
	switch {
	case n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Kind == yaml.AliasNode:
		return 0, fmt.Errorf("line %d: an anchor, an alias or a tag: edit it by hand", n.Line)
	case n.Kind != yaml.ScalarNode:
		return t.flowEnd(start)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return quotedEnd(t.text, start)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.lineEnd(t.lastLine(n.Line, indent+1)), nil
	case strings.HasPrefix(t.text[start:], n.Value):
		return start + len(n.Value), nil
	case inFlow:
		return 0, fmt.Errorf("line %d: a value over several lines: edit it by hand", n.Line)
	}
	return t.lineEnd(t.lastLine(n.Line, indent+1)), nil
}

// quotedEnd is where the quoted text that begins at start ends.
func quotedEnd(text string, start int) (int, error) {
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && strings.HasPrefix(text[i+1:], "'"):
			i++
		case text[i] == quote:
			return i + 1, nil
		}
	}
	return 0, errors.New("a quote is not closed")
}

// flowEnd is where the bracket that begins at start is closed.
func (t *yamlText) flowEnd(start int) (int, error) {
	depth := 0
	for i := start; i < len(t.text); i++ {
		switch c := t.text[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case (c == '"' || c == '\'') && strings.ContainsRune(" \t\n\r,:[{", rune(t.text[max(i-1, 0)])):
			end, err := quotedEnd(t.text, i)
			if err != nil {
				return 0, err
			}
			i = end - 1
		case c == '#' && strings.ContainsRune(" \t\n", rune(t.text[max(i-1, 0)])):
			for i < len(t.text) && t.text[i] != '\n' {
				i++
			}
		}
	}
	return 0, errors.New("a bracket is not closed")
}
