package input

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/types/path"
)

// A Position is a line and column in a file, both from 1. Line 0 means unknown. Columns count characters.
type Position struct{ Line, Column int }

// A text is the source of a document. The items of a YAML List share a text.
type text struct {
	text         []byte
	before       []byte // before text on its first line, as far as known
	line, column int    // where text begins

	once sync.Once
	doc  *position.Document

	within map[*position.Node][]duplicateKey // by item of a List, and by the root for those outside of the items
}

func (t *text) parsed() *position.Document {
	t.once.Do(func() {
		if doc, err := position.Parse(t.text); err == nil {
			t.doc = doc
		}
	})
	return t.doc
}

func (t *text) root() *position.Node {
	if doc := t.parsed(); doc != nil {
		return doc.Root
	}
	return nil
}

func (t *text) position(offset int) Position {
	at := t.doc.Position(offset)
	if at.Line == 1 {
		return Position{t.line, at.Column + t.column - 1}
	}
	return Position{at.Line + t.line - 1, at.Column}
}

func (t *text) items() *position.Node {
	root := t.root()
	if root == nil {
		return nil
	}
	_, items := root.Get("items")
	return items
}

func (t *text) itemLines() []int {
	items := t.items()
	if items == nil {
		return nil
	}
	lines := make([]int, len(items.Items))
	for i, item := range items.Items {
		lines[i] = t.position(item.Start).Line
	}
	return lines
}

func (d *Document) root() *position.Node {
	switch {
	case d.text == nil:
		return nil
	case !d.item:
		return d.text.root()
	}
	if items := d.text.items(); items != nil {
		return items.Item(d.Item)
	}
	return nil
}

// Locate returns the position of each field, or of its nearest existing parent. Positions are zero if they are
// unknown.
func (d *Document) Locate(fields []string) []Position {
	found := make([]Position, len(fields))
	if len(fields) == 0 {
		return found
	}
	if root := d.root(); root != nil {
		for i, field := range fields {
			found[i] = d.text.position(position.Nearest(root, field).Start)
		}
	}
	return found
}

// Value returns the node of a field's value, or nil if the field does not exist or the position is unknown.
func (d *Document) Value(field string) *position.Node {
	if root := d.root(); root != nil {
		if n := position.Value(root, field); n != nil {
			return n.Resolve()
		}
	}
	return nil
}

// Inside returns the position of a code point in the scalar that is the value of a field. It returns false if the
// position is unknown.
func (d *Document) Inside(field string, point int) (Position, bool) {
	node := d.Value(field)
	if node == nil {
		return Position{}, false
	}
	text, ok := d.text.parsed().Text(node)
	if !ok {
		return Position{}, false
	}
	return d.text.position(text.SourcePoint(point)), true
}

// SourceLine returns the source line of a position, and the index of the position's character in it. On the
// object's first line, the part before the object is included only if it is white space. SourceLine returns false if
// the source is unknown or the position is not in it. It also returns false for items of a List in brackets, because
// an excerpt could show other items.
func (d *Document) SourceLine(at Position) (line string, index int, ok bool) {
	if d.text == nil || d.item && d.text.flowList() {
		return "", 0, false
	}
	return d.text.lineOf(at)
}

func (t *text) flowList() bool {
	if t.root() == nil {
		return false
	}
	items := t.items()
	return items == nil || items.Resolve().Style == position.Flow
}

func (t *text) lineOf(at Position) (line string, index int, ok bool) {
	if at.Line < t.line {
		return "", 0, false
	}
	from := 0
	if at.Line > t.line {
		doc := t.parsed()
		if doc == nil {
			return "", 0, false
		}
		if from = doc.Offset(at.Line-t.line+1, 1); from >= len(t.text) {
			return "", 0, false
		}
	}
	rest, _, _ := bytes.Cut(t.text[from:], newline)
	index = at.Column - 1
	if at.Line == t.line {
		index = at.Column - t.column
		if len(bytes.TrimSpace(t.before)) == 0 {
			index += len(t.before)
			rest = append(bytes.Clone(t.before), rest...)
		}
	}
	if index < 0 || index > utf8.RuneCount(rest) {
		return "", 0, false
	}
	return strings.TrimRight(string(rest), "\r"), index, true
}

// Tree returns the positions in Source and the object's own node, or nil if they are unknown.
func (d *Document) Tree() (*position.Document, *position.Node) {
	root := d.root()
	if root == nil {
		return nil, nil
	}
	return d.text.parsed(), root
}

// Token returns the start and end in Source of the key, scalar, or alias that begins at a position. It returns
// false if the position has no such token.
func (d *Document) Token(at Position) (from, to int, ok bool) {
	tree, _ := d.Tree()
	line := 0
	if tree != nil {
		line = at.Line - d.text.line + 1
	}
	if line < 1 || at.Column < 1 {
		return 0, 0, false
	}
	column := at.Column
	if line == 1 {
		column -= d.text.column - 1
	}
	from = tree.Offset(line, column)
	node := tree.At(from).Node
	if node == nil || node.Start != from || !node.Known || node.Kind != position.Scalar && node.Kind != position.Alias {
		return from, from, false
	}
	return from, node.End, true
}

// A Span is the extent of a value, from its first character to its last line.
type Span struct {
	Position
	Last int // the last line; math.MaxInt if unknown
}

// Spans returns the spans of the values at paths. Paths that do not exist are omitted.
func (d *Document) Spans(paths [][]path.Step) []Span {
	if len(paths) == 0 {
		return nil
	}
	root := d.root()
	if root == nil {
		return nil
	}
	var spans []Span
	for _, steps := range paths {
		if node := nodeAtPath(root, steps); node != nil {
			span := Span{d.text.position(node.Start), math.MaxInt}
			if node.Known {
				span.Last = d.text.position(node.End).Line
			}
			spans = append(spans, span)
		}
	}
	return spans
}

func nodeAtPath(node *position.Node, steps []path.Step) *position.Node {
	for _, step := range steps {
		if step.Item {
			node = node.Item(step.Index)
		} else {
			_, node = node.Get(step.Name)
		}
		if node == nil {
			return nil
		}
	}
	return node.Resolve()
}
