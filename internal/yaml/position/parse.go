package position

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A Document is a parsed text.
type Document struct {
	// Root is the value of the document.
	Root *Node

	text   string
	json   bool
	broken error
	lines  []int // offset of each line
	marks  []int // characters before each multiple of marked
}

// Parse parses the first document of a UTF-8 text. It returns an error if the text is not valid YAML or JSON, or
// contains no document.
func Parse(text []byte) (*Document, error) {
	d := &Document{text: string(text)}
	if strings.HasPrefix(d.text, "\xff\xfe") || strings.HasPrefix(d.text, "\xfe\xff") {
		return nil, errors.New("the file is UTF-16: want UTF-8")
	}
	d.measure()
	if d.Root = parseJSON(d.text); d.Root != nil {
		d.json = true
		return d, nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return nil, errors.New("no YAML document")
	}
	b := &builder{text: d.text, anchors: map[*yaml.Node]*Node{}, lines: yamlLines(d.text)}
	d.Root = b.node(root.Content[0], -1)
	return d, nil
}

// A builder converts the parser's nodes, which have only a start position.
type builder struct {
	text    string
	lines   []int // as YAML counts them
	anchors map[*yaml.Node]*Node
	// The last position looked up. Nodes are visited in text order, and lines can be long.
	line, column, offset int
}

func yamlLines(text string) []int {
	lines := []int{len(text) - len(strings.TrimPrefix(text, bom))}
	for i := lines[0]; i < len(text); {
		n, _ := lineBreak(text[i:])
		if n > 0 {
			lines = append(lines, i+n)
		}
		i += max(n, 1)
	}
	return lines
}

func (b *builder) at(line, column int) int {
	if line > len(b.lines) {
		return len(b.text)
	}
	if line != b.line || column < b.column {
		b.line, b.column, b.offset = line, 1, b.lines[line-1]
	}
	for b.column < column && b.offset < len(b.text) {
		_, size := utf8.DecodeRuneInString(b.text[b.offset:])
		b.offset += size
		b.column++
	}
	return b.offset
}

var kinds = map[yaml.Kind]Kind{yaml.ScalarNode: Scalar, yaml.MappingNode: Mapping, yaml.SequenceNode: Sequence, yaml.AliasNode: Alias}

// indent is the zero-based column of the enclosing block collection, or -1.
func (b *builder) node(y *yaml.Node, indent int) *Node {
	n := &Node{Kind: kinds[y.Kind], Value: y.Value, Tag: y.ShortTag(), Anchor: y.Anchor, indent: int32(indent)}
	n.Begin = b.at(y.Line, y.Column)
	n.Style = style(y)
	if y.Anchor != "" {
		b.anchors[y] = n
	}
	n.Start = b.afterProperties(n, y)
	switch n.Kind {
	case Alias:
		n.target = b.anchors[y.Alias]
		n.End = n.Start + len("*") + len(n.Value)
		n.Known = n.End <= len(b.text)
	case Scalar:
		n.End, n.Known = scalarEnd(b.text, n)
	default:
		b.collection(n, y)
	}
	return n
}

func style(y *yaml.Node) Style {
	switch {
	case y.Style&yaml.FlowStyle != 0:
		return Flow
	case y.Kind == yaml.MappingNode, y.Kind == yaml.SequenceNode:
		return Block
	case y.Style&yaml.DoubleQuotedStyle != 0:
		return DoubleQuoted
	case y.Style&yaml.SingleQuotedStyle != 0:
		return SingleQuoted
	case y.Style&yaml.LiteralStyle != 0:
		return Literal
	case y.Style&yaml.FoldedStyle != 0:
		return Folded
	}
	return Plain
}

// afterProperties returns the start of a node after its anchor and tag. A node has at most one
// anchor and one tag.
func (b *builder) afterProperties(n *Node, y *yaml.Node) int {
	i := n.Begin
	tagged := y.Style&yaml.TaggedStyle != 0 || y.Kind == yaml.ScalarNode
	for range 2 {
		next := skipBlank(b.text, i)
		if next >= len(b.text) || !(b.text[next] == '&' && y.Anchor != "" || b.text[next] == '!' && tagged) {
			break
		}
		i = next
		for i < len(b.text) && !strings.ContainsRune(" \t\r\n,[]{}", rune(b.text[i])) {
			i++
		}
	}
	if i > n.Begin && n.written() {
		return skipBlank(b.text, i)
	}
	return i
}

func (b *builder) collection(n *Node, y *yaml.Node) {
	below := int(n.indent)
	if n.Style == Block {
		below = y.Column - 1
		if n.Start > n.Begin {
			line := max(strings.LastIndexByte(b.text[:n.Start], '\n')+1, b.lines[0])
			below = utf8.RuneCountInString(b.text[line:n.Start])
		}
	}
	last := n.Start
	n.Known = true
	for i := 0; i < len(y.Content); i++ {
		if n.Kind == Mapping {
			key := b.node(y.Content[i], below)
			n.Keys = append(n.Keys, key)
			n.Known = n.Known && key.Known && key.Begin >= last
			i++
			last = max(last, key.End)
		}
		item := b.node(y.Content[i], below)
		if !item.written() && item.Begin == item.End && n.Kind == Mapping && strings.TrimSpace(b.text[last:max(last, item.Start)]) != ":" {
			item.Begin, item.Start, item.End = last, last, last // the parser reports the position of the next token
		}
		n.Items = append(n.Items, item)
		n.Known = n.Known && item.Known && item.Begin >= last
		last = max(last, item.End)
	}
	n.indexed()
	n.End = last
	if n.Style == Flow && n.Start < len(b.text) && (b.text[n.Start] == '{' || b.text[n.Start] == '[') {
		n.End, n.Known = b.closed(n, last)
	}
}

// last is the end of its last child.
func (b *builder) closed(n *Node, last int) (end int, known bool) {
	i := last
	if i == n.Start {
		i++
	}
	for i = skipBlank(b.text, i); i < len(b.text) && strings.IndexByte(",:", b.text[i]) >= 0; {
		i = skipBlank(b.text, i+1)
	}
	if i >= len(b.text) || b.text[i] != b.text[n.Start]+2 { // ']' is '['+2, '}' is '{'+2
		return last, false
	}
	return i + 1, n.Known
}

func (d *Document) lineText(n *Node) string { return fmt.Sprintf("line %d", d.Position(n.Start).Line) }
