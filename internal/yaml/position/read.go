package position

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// readScalar reads the scalar in text[start:end] of invalid YAML. indent is the column of the enclosing block
// collection.
func readScalar(text string, start, end, indent int, style Style) *Node {
	n := &Node{Kind: Scalar, Style: style, Tag: "!!str", Begin: start, Start: start, End: end, Known: true, indent: int32(indent)}
	if style == Plain {
		n.End = start + len(strings.TrimRight(text[start:end], " \t\r\n"))
		end = n.End
	}
	n.limit = int32(max(end, 1))
	m := matcher{text: text[:end], at: start, reading: true}
	m.scalar(n)
	if style == Literal || style == Folded {
		n.End = m.last
	}
	n.Value = string(m.read)
	if style == Plain {
		n.Tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	}
	return n
}

func styleOf(text string) Style {
	if text == "" {
		return Plain
	}
	switch text[0] {
	case '"':
		return DoubleQuoted
	case '\'':
		return SingleQuoted
	case '|':
		return Literal
	case '>':
		return Folded
	}
	return Plain
}
