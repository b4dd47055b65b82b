package input

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// Position is a place in a file, from 1; line 0 is nowhere. Columns count
// characters.
type Position struct{ Line, Column int }

// text is what the user wrote. The items of a YAML List share one.
type text struct {
	text         []byte
	before       []byte // on the first line, as far as known
	line, column int    // of text

	once sync.Once
	doc  *position.Document

	around []duplicateKey // of a List, outside of its items
	within map[*position.Node][]duplicateKey
}

// parsed is the text with its positions, nil when it has none.
func (t *text) parsed() *position.Document {
	t.once.Do(func() {
		if doc, err := position.Parse(t.text); err == nil {
			t.doc = doc
		}
	})
	return t.doc
}

// root is the text's value; nil where there are no positions.
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

// items are a List's; nil where there are none.
func (t *text) items() *position.Node {
	root := t.root()
	if root == nil {
		return nil
	}
	_, items := root.Get("items")
	return items
}

// itemLines are the lines of a List's items.
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

// root is the object's own node; nil where it is not known.
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

// Locate finds the fields of the object, each or else its nearest parent. The
// place of a field is its key.
func (d *Document) Locate(fields []string) []Position {
	found := make([]Position, len(fields))
	if len(fields) == 0 {
		return found
	}
	root := d.root()
	if root == nil {
		return found
	}
	for i, field := range fields {
		found[i] = d.text.position(position.Nearest(root, field).Start)
	}
	return found
}

// SourceLine is the line of a position as the user wrote it, and the index in
// it of the position's character. Of what stands on the object's first line
// before it only white space is known. Items that share lines with others have
// none: an excerpt would show these too.
func (d *Document) SourceLine(at Position) (line string, index int, ok bool) {
	if d.text == nil || d.item && d.text.flowList() {
		return "", 0, false
	}
	return d.text.lineOf(at)
}

// flowList is true where the items of a YAML List stand in brackets.
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

var yamlLine = regexp.MustCompile(`line (\d+)`)

// A SyntaxError reports that a document is not YAML or JSON. Line is where in the file, or 0 if that is not known.
type SyntaxError struct {
	Line    int
	message string
}

func (e *SyntaxError) Error() string { return e.message }

// yamlError converts an error of the YAML decoder, which counts lines from the document's first one.
func yamlError(err error, first int) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	at := 0
	text = yamlLine.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(s[len("line "):])
		if n += first - 1; at == 0 {
			at = n
		}
		return fmt.Sprintf("line %d", n)
	})
	return &SyntaxError{at, strings.ReplaceAll(text, "\n  ", " ")}
}
