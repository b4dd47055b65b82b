package position

import "strings"

// How it works: a text that is no YAML mostly was a moment ago, and what was written
// since stands in one scalar, the rule that somebody types. So the tree of then is
// taken, with all behind the scalar moved (splice). Where that is not so, the lines are
// read by their indentation alone (outline.go). Both read the scalars themselves
// (read.go) with the matcher, which here finds a value out instead of holding it
// against the parser's.

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

// Broken says why a text is no YAML; nil for a document that Parse read.
func (d *Document) Broken() error { return d.broken }

// splice is the tree with another text in place of one scalar's; nil where the two
// texts differ in more.
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

// scalarAround is the scalar that the bytes from and to stand in or behind; nil for
// none, and for what anchors share.
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

// edit is what changed between two texts: the bytes from and to of the first, which
// grew by so many.
type edit struct {
	text         string
	json         bool
	from, to, by int
	scalar, with *Node
	moved        map[*Node]*Node
	passed       bool // the scalar
}

// read reads the scalar in the new text; nil where it is none any more.
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
			return nil // what was written goes on outside
		}
	}
	if start < end && strings.IndexByte("[{&*!#", e.text[start]) >= 0 || strings.HasPrefix(e.text[start:end], "- ") {
		return nil
	}
	r := reading{text: e.text, json: e.json}
	return r.scalar(start, end, int(e.scalar.indent), styleOf(e.text[start:end]))
}

// node is a node in the new text. Nodes come in the order of the text: those behind the
// scalar move, and those around it end later.
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
