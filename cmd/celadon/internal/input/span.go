package input

import (
	"math"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/engine"
)

// Span is where a value stands: from its first character on, and on all lines up
// to the last.
type Span struct {
	Position
	Last int // line
}

// Spans finds the values at the paths; those that are not found are left out.
func (d *Document) Spans(paths [][]engine.Step) []Span {
	if len(paths) == 0 {
		return nil
	}
	root := d.root()
	if root == nil {
		return nil
	}
	var spans []Span
	for _, path := range paths {
		if node := follow(root, path); node != nil {
			spans = append(spans, Span{d.text.position(node), d.text.lastLine(node)})
		}
	}
	return spans
}

func follow(node *yaml3.Node, path []engine.Step) *yaml3.Node {
	for _, step := range path {
		switch node = target(node); {
		case !step.Item:
			_, node = lookup(node, step.Name)
		case node.Kind == yaml3.SequenceNode && step.Index < len(node.Content):
			node = node.Content[step.Index]
		default:
			return nil
		}
		if node == nil {
			return nil
		}
	}
	return target(node)
}

// target is what an alias stands for.
func target(node *yaml3.Node) *yaml3.Node {
	for node.Kind == yaml3.AliasNode {
		node = node.Alias
	}
	return node
}

// lastLine is the last line of a scalar. The tree does not tell it: the scalar
// ends at the latest where the next node begins.
func (t *text) lastLine(of *yaml3.Node) int {
	next := after(t.node(), of)
	if next == nil {
		return math.MaxInt
	}
	at := t.position(next)
	line, index, ok := t.lineOf(at)
	if ok && strings.Trim(string([]rune(line)[:index]), " -?") == "" {
		return at.Line - 1
	}
	return at.Line
}

// after is the first node that stands behind another.
func after(root, of *yaml3.Node) (next *yaml3.Node) {
	behind := func(a, b *yaml3.Node) bool { return a.Line > b.Line || a.Line == b.Line && a.Column > b.Column }
	var walk func(*yaml3.Node)
	walk = func(n *yaml3.Node) {
		if behind(n, of) && (next == nil || behind(next, n)) {
			next = n
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(root)
	return next
}
