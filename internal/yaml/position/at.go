package position

import "strings"

// A Spot is the innermost key or value at an offset of a document.
type Spot struct {
	// Path leads to the value that contains the offset, or whose key contains it.
	Path Path
	// Node is that value or key. Key is set if it is a key.
	Node *Node
	Key  bool
}

// At returns the innermost key or value that contains offset or ends at it. In a mapping or
// sequence, but outside its keys and items, that is the mapping or sequence. An offset after a
// value belongs to the value if there is only white space between them, and the lines are indented
// so that more of the value could be written there. At returns the root if nothing else matches.
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

// below returns the direct key or value of n at offset.
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

// reaches reports whether offset is after an item of n, at a point where the item could continue.
func (d *Document) reaches(n, item *Node, offset int) bool {
	for i := item.End; i < offset; i++ { // stops at the first non-blank
		if c := d.text[i]; !blank(c) && c != '\n' && c != '\r' {
			return false
		}
	}
	line := strings.LastIndexByte(d.text[item.End:offset], '\n')
	return line < 0 || n.Style == Block && offset-item.End-line-1 > int(item.indent)
}
