package repl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pair is one key with its value, to be written: a text, or plainly true.
type pair struct {
	key, value string
	yes        bool
}

// setScalar gives a key of a mapping a text, in place of the one it has or as
// the last of its pairs.
func (t *yamlText) setScalar(m *yaml.Node, p pair) (splice, error) {
	_, v, _ := get(m, p.key)
	if v == nil {
		return t.appendPair(m, p)
	}
	end, err := t.end(v, flow(m), m.Column-1)
	if err != nil {
		return splice{}, err
	}
	behind, _, _ := strings.Cut(t.text[end:], "\n")
	inLine := flow(m) || !blankLine(behind) // a block would swallow a comment
	if inLine && !strings.Contains(p.value, "\n") {
		inLine = flow(m)
	}
	return splice{t.offset(v), end, t.scalar(p, m.Column-1, inLine, v.Style)}, nil
}

// appendPair adds a pair at a mapping's end.
func (t *yamlText) appendPair(m *yaml.Node, p pair) (splice, error) {
	if flow(m) {
		return t.appendFlow(m, t.key(p.key)+": "+t.scalar(p, 0, true, 0))
	}
	indent := m.Column - 1
	return t.appendLines(m, indent, []string{p.key + ": " + t.scalar(p, indent, false, 0)})
}

// appendLines adds lines at a block mapping's end.
func (t *yamlText) appendLines(m *yaml.Node, indent int, lines []string) (splice, error) {
	if len(m.Content) == 0 {
		return splice{}, fmt.Errorf("line %d: an empty mapping: edit it by hand", m.Line)
	}
	last := m.Content[len(m.Content)-2]
	at := t.lineEnd(t.lastLine(last.Line, indent))
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(t.eol + strings.Repeat(" ", indent) + line)
	}
	return splice{at, at, b.String()}, nil
}

// appendFlow adds an item before a flow collection's closing bracket.
func (t *yamlText) appendFlow(n *yaml.Node, item string) (splice, error) {
	end, err := t.end(n, true, 0)
	if err != nil {
		return splice{}, err
	}
	at := len(strings.TrimRight(t.text[:end-1], " \t\r\n"))
	if len(n.Content) > 0 {
		item = ", " + item
	}
	return splice{at, at, item}, nil
}

// appendRule adds an item with one pair to a schema node's list, and the list
// where there is none.
func (t *yamlText) appendRule(node *yaml.Node, list string, p pair) (splice, error) {
	_, v, _ := get(node, list)
	item := "{" + t.key(p.key) + ": " + t.scalar(p, 0, true, 0) + "}"
	switch {
	case v == nil && flow(node):
		return t.appendFlow(node, t.key(list)+": ["+item+"]")
	case v == nil:
		indent := node.Column - 1
		dash := strings.Repeat(" ", t.dashIndent())
		return t.appendLines(node, indent, []string{list + ":", dash + "- " + p.key + ": " + t.scalar(p, indent+len(dash)+2, false, 0)})
	case v.Kind == yaml.SequenceNode && flow(v):
		return t.appendFlow(v, item)
	case v.Kind == yaml.SequenceNode && len(v.Content) > 0:
		indent := v.Column - 1
		at := t.lineEnd(t.lastLine(v.Content[len(v.Content)-1].Line, indent+1))
		return splice{at, at, t.eol + strings.Repeat(" ", indent) + "- " + p.key + ": " + t.scalar(p, indent+2, false, 0)}, nil
	case v.Kind == yaml.ScalarNode && v.Value == "":
		at := t.offset(v)
		return splice{at, at, " [" + item + "]"}, nil
	}
	return splice{}, fmt.Errorf("line %d: %s is no list: edit it by hand", v.Line, list)
}

// dashIndent is how far the text indents the lists of its mappings.
func (t *yamlText) dashIndent() int {
	if indent := dashIndent(t.root); indent >= 0 {
		return indent
	}
	return 0
}

func dashIndent(n *yaml.Node) int {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if v.Kind == yaml.SequenceNode && !flow(v) && v.Line > k.Line {
			return v.Column - k.Column
		}
	}
	for _, child := range n.Content {
		if indent := dashIndent(child); indent >= 0 {
			return indent
		}
	}
	return -1
}

// removePair takes a key with its value out of a mapping that has others.
func (t *yamlText) removePair(m *yaml.Node, key string) (splice, error) {
	k, v, i := get(m, key)
	switch {
	case k == nil:
		return splice{}, fmt.Errorf("there is no %s", key)
	case len(m.Content) == 2:
		return splice{}, fmt.Errorf("line %d: %s is all there is", k.Line, key)
	case flow(m):
		return t.cutFlow(m.Content, i, 2)
	}
	indent := m.Column - 1
	if blankLine(t.text[t.lines[k.Line-1]:t.offset(k)]) {
		return t.cutLines(k.Line, t.pairEnd(v, k.Line, indent)), nil
	}
	return splice{t.offset(k), t.offset(m.Content[2]), ""}, nil // on the line of its dash
}

// pairEnd is the last line of a pair in a block mapping; a list may stand as
// far left as its key.
func (t *yamlText) pairEnd(v *yaml.Node, keyLine, indent int) int {
	if v.Kind == yaml.SequenceNode && !flow(v) && len(v.Content) > 0 {
		return t.lastLine(v.Content[len(v.Content)-1].Line, v.Column)
	}
	return t.lastLine(keyLine, indent+1)
}

// removeItem takes an item out of a list that has others.
func (t *yamlText) removeItem(list *yaml.Node, i int) (splice, error) {
	if flow(list) {
		return t.cutFlow(list.Content, i, 1)
	}
	indent := list.Column - 1
	first := list.Content[i].Line
	for ; first > list.Line; first-- {
		if line := t.line(first); indentOf(line) == indent && strings.HasPrefix(line[indent:], "-") {
			break
		}
	}
	return t.cutLines(first, t.lastLine(list.Content[i].Line, indent+1)), nil
}

func (t *yamlText) cutLines(first, last int) splice {
	start, end := t.lines[first-1], len(t.text)
	if last < len(t.lines) {
		return splice{start, t.lines[last], ""}
	}
	if first > 1 { // no line break at the end stays so
		start = t.lineEnd(first - 1)
	}
	return splice{start, end, ""}
}

// cutFlow takes width nodes out of a flow collection, with their comma.
func (t *yamlText) cutFlow(nodes []*yaml.Node, i, width int) (splice, error) {
	if i+width < len(nodes) {
		return splice{t.offset(nodes[i]), t.offset(nodes[i+width]), ""}, nil
	}
	start, err := t.end(nodes[i-1], true, 0)
	if err != nil {
		return splice{}, err
	}
	end, err := t.end(nodes[i+width-1], true, 0)
	return splice{start, end, ""}, err
}

func (t *yamlText) key(name string) string {
	if t.json {
		return quoteJSON(name)
	}
	return name
}

// scalar writes a text as a value of a mapping that is indented so; like is the
// style of the value that it replaces.
func (t *yamlText) scalar(p pair, indent int, inFlow bool, like yaml.Style) string {
	text := p.value
	switch {
	case p.yes:
		return "true"
	case t.json || inFlow:
		return quoteJSON(text)
	case strings.Contains(text, "\n"):
		if block := t.literal(text, indent+2); block != "" {
			return block
		}
		return quoteJSON(text)
	case like&yaml.DoubleQuotedStyle != 0:
		return quoteJSON(text)
	case like&yaml.SingleQuotedStyle != 0 && printable(text) == text:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	encoded, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
	if line := strings.TrimSuffix(string(encoded), "\n"); err == nil && !strings.Contains(line, "\n") {
		return line
	}
	return quoteJSON(text)
}

// literal is a text over several lines as a block; "" where a block cannot
// hold it.
func (t *yamlText) literal(text string, indent int) string {
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n") || printable(text) != text || strings.Contains(text, "\t") {
		return ""
	}
	var b strings.Builder
	b.WriteString("|-")
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			b.WriteString(t.eol)
			continue
		}
		b.WriteString(t.eol + strings.Repeat(" ", indent) + strings.TrimRight(line, " "))
	}
	return b.String()
}

// quoteJSON quotes as YAML reads it too.
func quoteJSON(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
