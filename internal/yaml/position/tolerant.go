package position

import "strings"

// How it works: a text that is not valid YAML was usually valid a moment ago, and the edit since is
// within a single scalar, typically a rule that the user is typing. ParseTolerant then takes the tree from
// before the edit, and moves all nodes after the scalar (splice). Otherwise it parses the lines by
// their indentation (outline.go). In both cases the scalars are read (read.go) with the matcher,
// which then computes the value instead of comparing it with the parser's.

// ParseTolerant parses a text that may be invalid YAML because it is being edited. If the text is valid,
// ParseTolerant returns the result of Parse. Otherwise, it returns a document with the most plausible tree,
// for which Broken returns an error and Edit fails. If before, an earlier version of the document,
// differs only within a scalar, the tree is that of before. Otherwise, it is derived from the
// indentation of the lines. before may be nil.
func ParseTolerant(text []byte, before *Document) *Document {
	d, err := Parse(text)
	if err == nil {
		return d
	}
	d = &Document{text: string(text), broken: err}
	d.measure()
	if before != nil && before.broken == nil {
		d.Root, d.json = before.splice(d.text), before.json
	}
	if d.Root == nil {
		d.json = false
		d.Root = outlined(d.text)
	}
	return d
}

// Broken returns the parser's error, or nil if the text is valid YAML.
func (d *Document) Broken() error { return d.broken }

// splice returns the tree with a scalar read from the new text, or nil if the two texts differ
// elsewhere too.
func (d *Document) splice(text string) *Node {
	from := commonPrefix(d.text, text)
	same := min(commonSuffix(d.text, text), len(d.text)-from, len(text)-from)
	e := &edit{text: text, json: d.json, from: from, to: len(d.text) - same, by: len(text) - len(d.text), moved: map[*Node]*Node{}}
	e.scalar = d.scalarAround(d.Root, e.from, e.to)
	if e.scalar == nil || e.scalar.indent < 0 {
		return nil
	}
	if e.with = e.read(); e.with == nil {
		return nil
	}
	return e.node(d.Root)
}

func commonPrefix(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// scalarAround returns the scalar that contains the bytes from and to, or that they follow. It
// returns nil if no scalar matches or if the scalar has an anchor.
func (d *Document) scalarAround(n *Node, from, to int) *Node {
	if n.Kind == Scalar && n.Known && n.Anchor == "" {
		end := n.End
		for !n.written() && end < len(d.text) && blank(d.text[end]) {
			end++
		}
		if n.Start <= from && to <= end {
			return n
		}
	}
	for _, list := range [][]*Node{n.Keys, n.Items} {
		for _, below := range list {
			if below.Begin <= from && (to <= below.End || !below.written()) {
				if found := d.scalarAround(below, from, to); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// An edit is the difference between two texts: the bytes [from, to) of the old text were replaced,
// and the text became longer by the number of bytes in by.
type edit struct {
	text         string
	json         bool
	from, to, by int
	scalar, with *Node
	moved        map[*Node]*Node
	passed       bool // whether the scalar was passed
}

// read reads the scalar in the new text. It returns nil if the new text is not a single scalar.
func (e *edit) read() *Node {
	start, end := e.scalar.Start, max(e.scalar.End, e.to)+e.by
	if !e.scalar.written() {
		for start < end && blank(e.text[start]) {
			start++
		}
	}
	for i := lineEnd(e.text, start); i < end; i = lineEnd(e.text, i) {
		n, _ := lineBreak(e.text[i:])
		i = min(i+n, end)
		line := strings.TrimLeft(e.text[i:end], " ")
		if n, _ := lineBreak(line); line != "" && n == 0 && end-i-len(line) <= int(e.scalar.indent) {
			return nil // the new text continues outside the scalar
		}
	}
	if start < end && strings.IndexByte("[{&*!#", e.text[start]) >= 0 || strings.HasPrefix(e.text[start:end], "- ") {
		return nil
	}
	r := reading{text: e.text, json: e.json}
	return r.scalar(start, end, int(e.scalar.indent), styleOf(e.text[start:end]))
}

// node returns n in the new text. Nodes are visited in text order: those after the scalar move, and
// those around it end later.
func (e *edit) node(n *Node) *Node {
	if n == e.scalar {
		e.passed = true
		return e.with
	}
	if known := e.moved[n]; known != nil {
		return known
	}
	m := *n
	e.moved[n] = &m
	if e.passed {
		m.Begin, m.Start = max(n.Begin+e.by, e.with.End), max(n.Start+e.by, e.with.End)
	}
	m.Keys, m.Items, m.rare = nil, nil, nil
	for i, item := range n.Items {
		if n.Kind == Mapping {
			m.Keys = append(m.Keys, e.node(n.Keys[i]))
		}
		m.Items = append(m.Items, e.node(item))
	}
	m.indexed()
	if target := n.Resolve(); target != n {
		m.rare = &rare{target: e.node(target)}
	}
	if e.passed {
		m.End = max(n.End+e.by, e.with.End)
	}
	return &m
}
