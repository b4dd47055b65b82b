package position

import (
	"sort"
	"unicode/utf8"
)

// A Text maps between offsets in a scalar's value, for example of a rule, and offsets in its
// source.
type Text struct {
	runs []run
	node *Node
}

// A run is a part of a value and its source. If both lengths are equal, so are the bytes. Otherwise
// the run is a single character, written for example as an escape or a line break.
type run struct{ value, valueLen, source, sourceLen int }

// Text returns the mapping of a scalar. It returns false if n is not a scalar or if its end is
// unknown.
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

// Source returns the offset in the document of byte i of the value. For the end of the value, it
// returns the end of its last character.
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

// Value returns the index of the byte in the value that an offset in the document represents. For
// an offset without a value, such as in indentation or quotes, it returns the next byte that is
// represented.
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

// SourcePoint is like Source, but takes a zero-based code point index, as in CEL.
func (t *Text) SourcePoint(point int) int {
	i := 0
	for range point {
		_, size := utf8.DecodeRuneInString(t.node.Value[i:])
		i += size
	}
	return t.Source(i)
}

// Point is like Value, but returns a code point index.
func (t *Text) Point(offset int) int { return utf8.RuneCountInString(t.node.Value[:t.Value(offset)]) }
