package position

import "strings"

// Spot is what stands at an offset of a document.
type Spot struct {
	// Path leads to the value that the offset is in, or whose key it is in.
	Path Path
	// Node is that value or that key, and Key is true for the key.
	Node *Node
	Key  bool
}

// At is the innermost key or value around an offset, which may be directly behind
// its last character; beside the keys and items of a mapping or a sequence it is
// that. Where nothing stands between a value and the offset but blanks, and of lines
// that are indented as the value's must be, it is the value: somebody is about to
// write more of it. It is the root where there is nothing else.
func (d *Document) At(offset int) Spot {
	s := Spot{Node: d.Root}
	for !s.Key {
		below := d.below(s.Node, offset)
		if below.Node == nil {
			break
		}
		s = Spot{append(s.Path, below.Path...), below.Node, below.Key}
	}
	return s
}

// below is one step down.
func (d *Document) below(n *Node, offset int) (s Spot) {
	for i, item := range n.Items {
		step := Item(i)
		if n.Kind == Mapping {
			key := n.Keys[i]
			step = Key(key.Value)
			if key.Begin <= offset && offset <= key.End {
				return Spot{Path{step}, key, true}
			}
		}
		if item.Begin <= offset && (offset <= item.End || d.reaches(n, item, offset)) {
			s = Spot{Path{step}, item, false}
		}
	}
	return s
}

// reaches is true of an offset behind an item of n at which it could go on.
func (d *Document) reaches(n, item *Node, offset int) bool {
	for i := item.End; i < offset; i++ { // stops at the first thing that is written
		if c := d.text[i]; !blank(c) && c != '\n' && c != '\r' {
			return false
		}
	}
	line := strings.LastIndexByte(d.text[item.End:offset], '\n')
	return line < 0 || n.Style == Block && offset-item.End-line-1 > int(item.indent)
}
