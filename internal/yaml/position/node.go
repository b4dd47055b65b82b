package position

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota
	Mapping
	Sequence
	Alias
)

// Style is the notation of a node. The first five apply to scalars, and Block and Flow to
// collections.
type Style uint8

// The styles of nodes. JSON uses DoubleQuoted, Plain, and Flow.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
	Block
	Flow
)

// A Node is a value or a key. Nodes are immutable.
type Node struct {
	Kind  Kind
	Style Style
	// Known reports whether End is known.
	Known bool

	indent int32 // column of the enclosing block collection
	limit  int32 // end of the source of a scalar in invalid YAML
	// Value is the decoded text of a scalar, or the name of an alias.
	Value string
	// Tag is the type, such as "!!str".
	Tag    string
	Anchor string
	// Keys are the keys of a mapping in text order. Items are the values of a mapping or the items
	// of a sequence.
	Keys, Items []*Node
	// Byte offsets in the document. Start and End delimit the node without its anchor and tag. Begin
	// is the start of the anchor or tag, or Start if the node has neither. If a null value is
	// omitted, Start equals End.
	Begin, Start, End int

	target *Node          // of an alias
	index  map[string]int // of the keys of a large mapping; the last index of duplicate keys
}

// A Step leads from a mapping to the value of a key, or from a sequence to an item.
type Step struct {
	key   string
	index int // -1 for a key
}

// Key returns the step to the value of a key in a mapping.
func Key(name string) Step { return Step{name, -1} }

// Item returns the step to an item of a sequence. i counts from 0.
func Item(i int) Step { return Step{"", max(0, i)} }

// Name returns the key of the step. It returns false for an item.
func (s Step) Name() (string, bool) { return s.key, s.index < 0 }

// Index returns the index of the item, or -1 for a key.
func (s Step) Index() int { return s.index }

func (s Step) String() string {
	if s.index < 0 {
		return s.key
	}
	return fmt.Sprintf("[%d]", s.index)
}

// A Path leads from the root of a document to a value.
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

// Find returns the value at path and its key. The key is nil for items and the root. If path does
// not exist, both are nil. Find follows aliases and merge keys. Of duplicate keys it returns the
// last, as decoders do.
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

// Get returns the value of a key in a mapping, and the key node. It follows aliases and merge keys.
// If the key does not exist, both are nil.
func (n *Node) Get(name string) (key, value *Node) { return n.get(name, 0) }

// maxMerges limits the depth of nested merges that Get follows, because merges can be cyclic.
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

// own returns the index of a key, without merged keys, or -1.
func (n *Node) own(name string) int {
	if n.Kind != Mapping {
		return -1
	}
	if n.index != nil {
		if i, ok := n.index[name]; ok {
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

func (n *Node) merge() int {
	if i := n.own("<<"); i >= 0 && n.Keys[i].IsMerge() {
		return i
	}
	return -1
}

// IsMerge reports whether n is a merge key ("<<"), which adds the keys of its value to the mapping.
func (n *Node) IsMerge() bool { return n.Tag == "!!merge" }

// Item returns an item of a sequence, or nil if it does not exist.
func (n *Node) Item(i int) *Node {
	if n = n.Resolve(); n.Kind != Sequence || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// Resolve returns the target of an alias. It returns any other node unchanged.
func (n *Node) Resolve() *Node {
	if n.target != nil {
		return n.target
	}
	return n
}

// written reports whether the node has source text. A null value can be empty.
func (n *Node) written() bool {
	return n.Kind != Scalar || n.Style != Plain || n.Value != ""
}

const largeMapping = 32 // keys

func (n *Node) indexed() {
	if len(n.Keys) < largeMapping {
		return
	}
	n.index = make(map[string]int, len(n.Keys))
	for i, k := range n.Keys {
		if k.Kind == Scalar {
			n.index[k.Value] = i
		}
	}
}

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

// Escape returns a line of text in the form that a scalar of style s requires, without quotes.
func (s Style) Escape(text string) string {
	switch s {
	case SingleQuoted:
		return strings.ReplaceAll(text, "'", "''")
	case DoubleQuoted:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	}
	return text
}
