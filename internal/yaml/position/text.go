package position

import (
	"sort"
	"unicode/utf8"
)

// Text is the way between a scalar's value and the source that it stands in, for
// an expression in a rule, say.
type Text struct {
	runs []run
	node *Node
}

// run is a stretch of a value and what it stands as. Where both are as long they
// are the same bytes; else it is one character, as an escape or a line break has
// it.
type run struct{ value, valueLen, source, sourceLen int }

// Text is false for what is no scalar, or one of which the extent is not known.
func (d *Document) Text(n *Node) (*Text, bool) {
	if n.Kind != Scalar || !n.Known {
		return nil, false
	}
	t := &Text{node: n}
	m := matcher{text: d.text, at: n.Start, value: n.Value, json: d.json, runs: &t.runs}
	if n.limit > 0 {
		m.text, m.reading = d.text[:n.limit], true
	}
	return t, m.scalar(n)
}

// Source is the offset, in the document, of the value's byte i. For the value's
// end it is where its last character ends.
func (t *Text) Source(i int) int {
	at := sort.Search(len(t.runs), func(k int) bool { return t.runs[k].value > i }) - 1
	if at < 0 {
		return t.node.Start
	}
	r := t.runs[at]
	switch {
	case i >= r.value+r.valueLen:
		return r.source + r.sourceLen
	case r.valueLen == r.sourceLen:
		return r.source + i - r.value
	}
	return r.source
}

// Value is the byte of the value that an offset in the document stands for. For
// what stands for nothing, indentation and quotes, it is the next byte that
// something stands for.
func (t *Text) Value(offset int) int {
	at := sort.Search(len(t.runs), func(k int) bool { return t.runs[k].source > offset }) - 1
	if at < 0 {
		return 0
	}
	r := t.runs[at]
	switch {
	case offset >= r.source+r.sourceLen:
		return r.value + r.valueLen
	case r.valueLen == r.sourceLen:
		return r.value + offset - r.source
	}
	return r.value
}

// SourcePoint is Source for a code point of the value, from 0, as CEL counts.
func (t *Text) SourcePoint(point int) int {
	i := 0
	for range point {
		_, size := utf8.DecodeRuneInString(t.node.Value[i:])
		i += size
	}
	return t.Source(i)
}

// Point is Value in code points.
func (t *Text) Point(offset int) int { return utf8.RuneCountInString(t.node.Value[:t.Value(offset)]) }
