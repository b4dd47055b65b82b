package yamlpos

// Loose reads a text that need not be YAML, as it is while somebody writes it. Of a
// text that is, the document is Parse's. Of any other it is the most sensible tree:
// that of before, a document that the text was lately, where the edits since are
// within one scalar, else what the indentation of its lines shows. before may be
// nil. Broken tells which; an edit is made of good documents only.
func Loose(text []byte, before *Document) *Document {
	d, err := Parse(text)
	if err == nil {
		return d
	}
	return &Document{Root: &Node{Known: true, Tag: "!!null"}, text: string(text), lines: []int{0}, marks: []counts{{}}, broken: err}
}

// Broken says why a text is no YAML; nil for a document that Parse read.
func (d *Document) Broken() error { return d.broken }

// Spot is what stands at an offset of a document.
type Spot struct {
	// Path leads to the value that the offset is in, or whose key it is in.
	Path Path
	// Node is that value or that key, and Key is true for the key.
	Node *Node
	Key  bool
}

// At is the innermost key or value around an offset, which may be directly behind
// its last character; in a mapping or a sequence beside its keys and items it is that.
// Of a document that is Broken it may also be a value that is still to be written,
// behind its key. It is the root where there is nothing else.
func (d *Document) At(offset int) Spot {
	return d.at(d.Root, offset, nil)
}

func (d *Document) at(n *Node, offset int, path Path) Spot {
	for i, item := range n.Items {
		below := Item(i)
		if n.Kind == Mapping {
			below = Key(n.Keys[i].Value)
			if k := n.Keys[i]; k.Start <= offset && offset <= k.End {
				return Spot{append(path, below), k, true}
			}
		}
		if item.Start <= offset && offset <= item.End {
			return d.at(item, offset, append(path, below))
		}
	}
	return Spot{Path: path, Node: n}
}
