package position

import (
	"fmt"
	"strings"
)

// Kind is what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota
	Mapping
	Sequence
	Alias
)

// Style is how a node is written: a scalar in the first five, a collection in
// Block or Flow.
type Style uint8

// The styles of nodes. JSON has DoubleQuoted, Plain and Flow.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
	Block
	Flow
)

// Node is a value or a key. Nodes are never changed.
type Node struct {
	Kind  Kind
	Style Style
	// Known is false where End is not known.
	Known bool

	indent int32 // of the block collection around it
	limit  int32 // of a scalar of a broken text: what was read of it ends here
	// Value is a scalar's text, decoded, or the name of an alias.
	Value string
	// Tag is the scalar's type, as "!!str".
	Tag    string
	Anchor string
	// Keys are a mapping's, in the order of the text; Items are its values, or
	// the items of a sequence.
	Keys, Items []*Node
	// Start and End are the bytes of the node without its anchor and tag, up to
	// its last character; these two begin at Begin. A null that is not written
	// has no bytes.
	Begin, Start, End int

	rare *rare
}

// rare is what few nodes have: a large document has a million.
type rare struct {
	target *Node          // of an alias
	index  map[string]int // of large mappings: the last of equal keys
}

// Step leads from a mapping to the value of a key, or from a sequence to an item.
type Step struct {
	key   string
	index int // -1 for a key
}

// Key is the step to a mapping's key.
func Key(name string) Step { return Step{name, -1} }

// Item is the step to a sequence's item, from 0.
func Item(i int) Step { return Step{"", max(0, i)} }

// Name is a key's; false for an item.
func (s Step) Name() (string, bool) { return s.key, s.index < 0 }

// Index is an item's; -1 for a key.
func (s Step) Index() int { return s.index }

func (s Step) String() string {
	if s.index < 0 {
		return s.key
	}
	return fmt.Sprintf("[%d]", s.index)
}

// Path leads from a document's root to a value.
type Path []Step

func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		if i > 0 && s.index < 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.String())
	}
	return b.String()
}

// Find is the value at a path with its key, which is nil for items and the root.
// Both are nil where there is none. Aliases are followed, merged keys found; of
// equal keys the last counts, as it does for decoders.
func (d *Document) Find(path Path) (key, value *Node) {
	value = d.Root
	for _, step := range path {
		if step.index < 0 {
			key, value = value.Get(step.key)
		} else {
			key, value = nil, value.Item(step.index)
		}
		if value == nil {
			return nil, nil
		}
	}
	return key, value
}

// Get is the value of a mapping's key, with the key; nil where there is none.
func (n *Node) Get(name string) (key, value *Node) { return n.get(name, 0) }

// maxMerges is how deep merges of merges are followed: they may go in circles.
const maxMerges = 10

func (n *Node) get(name string, depth int) (key, value *Node) {
	n = n.Resolve()
	if i := n.own(name); i >= 0 {
		return n.Keys[i], n.Items[i]
	}
	if n.Kind != Mapping || depth > maxMerges {
		return nil, nil
	}
	if i := n.merge(); i >= 0 {
		from := n.Items[i].Resolve()
		if from.Kind == Mapping {
			return from.get(name, depth+1)
		}
		for _, item := range from.Items {
			if item.Resolve().Kind != Mapping {
				continue
			}
			if i := item.Resolve().own(name); i >= 0 {
				return item.Resolve().Keys[i], item.Resolve().Items[i]
			}
		}
	}
	return nil, nil
}

// own is the position of a key that the mapping itself has, -1 for none.
func (n *Node) own(name string) int {
	if n.Kind != Mapping {
		return -1
	}
	if n.rare != nil && n.rare.index != nil {
		if i, ok := n.rare.index[name]; ok {
			return i
		}
		return -1
	}
	for i := len(n.Keys) - 1; i >= 0; i-- {
		if n.Keys[i].Kind == Scalar && n.Keys[i].Value == name {
			return i
		}
	}
	return -1
}

// merge is the position of a mapping's last merge key, -1 for none.
func (n *Node) merge() int {
	if i := n.own("<<"); i >= 0 && n.Keys[i].IsMerge() {
		return i
	}
	return -1
}

// IsMerge is true for the key "<<", whose value's keys are the mapping's too.
func (n *Node) IsMerge() bool { return n.Tag == "!!merge" }

// Item is a sequence's item; nil where there is none.
func (n *Node) Item(i int) *Node {
	if n = n.Resolve(); n.Kind != Sequence || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// Resolve is the node that an alias stands for, and any other node itself.
func (n *Node) Resolve() *Node {
	if n.Kind == Alias && n.rare != nil {
		return n.rare.target
	}
	return n
}

// Written is false for a null that has no bytes.
func (n *Node) written() bool {
	return n.Kind != Scalar || n.Style != Plain || n.Value != ""
}

const largeMapping = 32 // keys

// indexed makes large mappings quick to look into.
func (n *Node) indexed() {
	if len(n.Keys) < largeMapping {
		return
	}
	index := make(map[string]int, len(n.Keys))
	for i, k := range n.Keys {
		if k.Kind == Scalar {
			index[k.Value] = i
		}
	}
	n.rare = &rare{index: index}
}
