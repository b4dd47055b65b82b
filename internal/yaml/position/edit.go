package position

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Change is a change to a document: Set, Insert, Remove, or Rename.
type Change struct {
	do    func(p *plan, at *spot) error
	path  Path
	value any
}

// Set returns a change that replaces the value at path. If the key does not exist, it is added: in
// order if the keys of the mapping and of most mappings in the document are sorted, otherwise as
// the last key. A value is a string, bool, int, int64, float64, nil, or a []any, map[string]any, or
// Map of values.
func Set(path Path, value any) Change { return Change{(*plan).set, path, value} }

// Insert returns a change that inserts value before the item at path. If the index equals the
// number of items, the value is appended.
func Insert(path Path, value any) Change { return Change{(*plan).insert, path, value} }

// Remove returns a change that removes the key or item at path. It must not be the only element of
// its collection; in that case, remove the collection.
func Remove(path Path) Change { return Change{(*plan).remove, path, nil} }

// Rename returns a change that replaces the key at path by name, which the mapping must not contain.
func Rename(path Path, name string) Change { return Change{(*plan).rename, path, name} }

// A Map is a mapping to write. Its entries are written in order.
type Map []Entry

// An Entry is a key and value of a Map.
type Entry struct {
	Key   string
	Value any
}

// Edit returns the text with the given changes. All paths refer to the unchanged document. The result parses to the
// document with exactly these changes. Bytes outside the changes, including comments, are preserved. Edit returns an
// error for edits that must be made by hand, such as edits to values shared through aliases, to duplicate keys, or to
// nodes whose end is unknown.
func (d *Document) Edit(changes ...Change) ([]byte, error) {
	if d.broken != nil {
		return nil, fmt.Errorf("not YAML: %w", d.broken)
	}
	p := newPlan(d)
	for _, c := range changes {
		p.depth = len(c.path)
		at, err := p.find(c.path)
		if err == nil {
			if at.value, err = newNode(c.value); err == nil {
				err = c.do(p, at)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.path, err)
		}
	}
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	edited, err := Parse(text)
	if err != nil || !equal(p.expected(d.Root), edited.Root) {
		return nil, errors.New("this cannot be edited without changing more: edit it by hand")
	}
	return text, nil
}

type splice struct {
	start, end int
	text       string
}

// A nestedSplice is a splice and the number of collections that contain it. A replaced or removed
// entry counts as a collection.
type nestedSplice struct {
	splice
	depth int
}

// order returns the order of two splices: by offset; at the same offset, additions before the text
// that follows them, and the end of a nested collection before the end of the outer collection.
func (s nestedSplice) order(other nestedSplice) int {
	return cmp.Or(s.start-other.start, min(s.end-s.start, 1)-min(other.end-other.start, 1), other.depth-s.depth)
}

type plan struct {
	*writer
	splices []nestedSplice
	depth   int            // the length of the current change's path
	shared  map[*Node]bool // targets of aliases
	// The tree after the changes: the replacements of nodes (nil for removed nodes), the additions
	// to collections, and the nodes with changes below them.
	replaced map[*Node]*Node
	added    map[*Node][]addition
	touched  map[*Node]bool
}

// An addition is inserted before index at of the collection.
type addition struct {
	at         int
	key, value *Node
}

func newPlan(d *Document) *plan {
	p := &plan{writer: newWriter(d), shared: map[*Node]bool{}, replaced: map[*Node]*Node{}, added: map[*Node][]addition{}, touched: map[*Node]bool{}}
	p.share(d.Root)
	return p
}

func (p *plan) share(n *Node) {
	if target := n.Resolve(); target != n {
		p.shared[target] = true
	}
	for _, list := range [][]*Node{n.Keys, n.Items} {
		for _, below := range list {
			p.share(below)
		}
	}
}

type spot struct {
	in    *Node
	step  Step
	at    int // index in the collection; -1 for a key that does not exist
	value *Node
}

func (s *spot) node() *Node { return s.in.Items[s.at] }

func (s *spot) key() *Node {
	if s.in.Kind == Mapping {
		return s.in.Keys[s.at]
	}
	return nil
}

var errRoot = errors.New("the document itself cannot be replaced: rewrite it")

func (p *plan) find(path Path) (*spot, error) {
	if len(path) == 0 {
		return nil, errRoot
	}
	n := p.d.Root
	for i, step := range path {
		if err := p.free(n); err != nil {
			return nil, err
		}
		p.touched[n] = true
		at := &spot{in: n, step: step, at: step.index}
		switch {
		case step.index >= 0 && n.Kind != Sequence, step.index < 0 && n.Kind != Mapping:
			return nil, fmt.Errorf("%s: %s cannot be followed here", p.d.lineText(n), step)
		case step.index < 0:
			at.at = n.own(step.key)
			if at.at >= 0 && n.twice(step.key) {
				return nil, fmt.Errorf("%s: %s is a duplicate key: edit it by hand", p.d.lineText(at.key()), step)
			}
		case step.index > len(n.Items):
			return nil, fmt.Errorf("%s: there are %d items", p.d.lineText(n), len(n.Items))
		}
		if i == len(path)-1 {
			return at, nil
		}
		if at.at < 0 || at.at == len(n.Items) {
			return nil, fmt.Errorf("%s: there is no %s", p.d.lineText(n), step)
		}
		n = at.node()
	}
	return nil, errRoot
}

// free returns an error if n cannot be edited on its own.
func (p *plan) free(n *Node) error {
	switch {
	case n.Kind == Alias:
		return fmt.Errorf("%s: an alias, *%s: edit its anchor by hand", p.d.lineText(n), n.Value)
	case p.shared[n]:
		return fmt.Errorf("%s: an anchor that others use, &%s: edit it by hand", p.d.lineText(n), n.Anchor)
	case !n.Known:
		return fmt.Errorf("%s: the end of this value is ambiguous: edit it by hand", p.d.lineText(n))
	}
	return nil
}

func (n *Node) twice(name string) bool {
	count := 0
	for _, k := range n.Keys {
		if k.Kind == Scalar && k.Value == name {
			count++
		}
	}
	return count > 1
}

func (p *plan) set(s *spot) error {
	if s.at < 0 {
		return p.addKey(s)
	}
	if s.at == len(s.in.Items) {
		return fmt.Errorf("%s: there are %d items", p.d.lineText(s.in), len(s.in.Items))
	}
	old := s.node()
	if err := p.free(old); err != nil && old.Kind != Alias {
		return err
	}
	if m := s.in.merge(); s.in.Kind == Mapping && m > s.at {
		return fmt.Errorf("%s: a later merge key may have it, too: edit it by hand", p.d.lineText(s.in.Keys[m]))
	}
	s.value.Anchor = old.Anchor
	p.replaced[old] = s.value
	change, err := p.replace(s, old)
	p.splices = append(p.splices, nestedSplice{change, p.depth + 1})
	return err
}

func (p *plan) insert(s *spot) error {
	if s.in.Kind != Sequence {
		return fmt.Errorf("%s: not a list", p.d.lineText(s.in))
	}
	return p.add(s.in, addition{s.at, nil, s.value})
}

func (p *plan) addKey(s *spot) error {
	at := len(s.in.Keys)
	if p.sorted && s.in.inOrder() {
		at, _ = slices.BinarySearchFunc(s.in.Keys, s.step.key, func(k *Node, name string) int { return strings.Compare(k.Value, name) })
		at = max(at, s.in.merge()+1)
	}
	key, err := newNode(s.step.key)
	if err != nil {
		return err
	}
	return p.add(s.in, addition{at, key, s.value})
}

func (p *plan) add(to *Node, a addition) error {
	var change splice
	if to.Style == Flow {
		change = p.addFlow(to, a, len(p.added[to]) > 0)
	} else {
		change = p.addBlock(to, a)
	}
	p.added[to] = append(p.added[to], a)
	p.splices = append(p.splices, nestedSplice{change, p.depth})
	return nil
}

func (p *plan) remove(s *spot) error {
	switch {
	case s.at < 0 || s.at == len(s.in.Items):
		return fmt.Errorf("%s: there is no %s", p.d.lineText(s.in), s.step)
	case len(s.in.Items) == 1:
		return fmt.Errorf("%s: %s is all there is", p.d.lineText(s.node()), s.step)
	case p.shared[s.node()]:
		return p.free(s.node())
	}
	p.replaced[s.node()] = nil
	change := splice{}
	if s.in.Style == Flow {
		change = p.cutFlow(s)
	} else {
		change = p.cutBlock(s)
	}
	p.splices = append(p.splices, nestedSplice{change, p.depth + 1})
	return nil
}

func (p *plan) rename(s *spot) error {
	switch {
	case s.in.Kind != Mapping || s.at < 0:
		return fmt.Errorf("%s: there is no %s", p.d.lineText(s.in), s.step)
	case s.in.own(s.value.Value) >= 0:
		return fmt.Errorf("%s: there is already a %s", p.d.lineText(s.key()), s.value.Value)
	}
	if err := p.free(s.key()); err != nil {
		return err
	}
	p.replaced[s.key()] = s.value
	text := p.scalar(s.value, Plain)
	if s.in.Style == Flow {
		text = p.flowKey(s.value)
	}
	p.splices = append(p.splices, nestedSplice{splice{s.key().Start, s.key().End, text}, p.depth + 1})
	return nil
}

func (p *plan) text() ([]byte, error) {
	slices.SortStableFunc(p.splices, nestedSplice.order)
	var out []byte
	done := 0
	for _, s := range p.splices {
		if s.start < done || s.end < s.start {
			return nil, errors.New("two changes at the same position: apply them one after the other")
		}
		out = append(append(out, p.d.text[done:s.start]...), s.text...)
		done = s.end
	}
	return append(out, p.d.text[done:]...), nil
}
