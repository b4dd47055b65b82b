package input

import (
	"math"

	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/types/path"
)

// A Span is the extent of a value, from its first character to its last line.
type Span struct {
	Position
	Last int // the last line
}

// Spans returns the spans of the values at paths. Paths that do not exist are omitted.
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
		if node := nodeAtPath(root, steps); node != nil {
			span := Span{d.text.position(node.Start), math.MaxInt}
			if node.Known {
				span.Last = d.text.position(node.End).Line
			}
			spans = append(spans, span)
		}
	}
	return spans
}

func nodeAtPath(node *position.Node, steps []path.Step) *position.Node {
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
