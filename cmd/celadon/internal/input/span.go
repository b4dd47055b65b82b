package input

import (
	"math"

	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/types/path"
)

// Span is where a value stands: from its first character on, and on all lines up
// to the last.
type Span struct {
	Position
	Last int // line
}

// Spans finds the values at the paths; those that are not found are left out.
func (d *Document) Spans(paths [][]path.Step) []Span {
	if len(paths) == 0 {
		return nil
	}
	root := d.root()
	if root == nil {
		return nil
	}
	var spans []Span
	for _, steps := range paths {
		if node := descend(root, steps); node != nil {
			span := Span{d.text.position(node.Start), math.MaxInt}
			if node.Known {
				span.Last = d.text.position(node.End).Line
			}
			spans = append(spans, span)
		}
	}
	return spans
}

func descend(node *position.Node, steps []path.Step) *position.Node {
	for _, step := range steps {
		if step.Item {
			node = node.Item(step.Index)
		} else {
			_, node = node.Get(step.Name)
		}
		if node == nil {
			return nil
		}
	}
	return node.Resolve()
}
