package input

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/engine"
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
	root *yaml3.Node
}

// node is the text's tree with positions, nil when it has none. JSON is read as
// the YAML that it is.
func (t *text) node() *yaml3.Node {
	t.once.Do(func() {
		var root yaml3.Node
		if yaml3.NewDecoder(bytes.NewReader(t.text)).Decode(&root) == nil && len(root.Content) > 0 {
			t.root = root.Content[0]
		}
	})
	return t.root
}

func (t *text) position(node *yaml3.Node) Position {
	if node.Line == 1 {
		return Position{t.line, node.Column + t.column - 1}
	}
	return Position{node.Line + t.line - 1, node.Column}
}

// itemLines are the lines of a List's items.
func (t *text) itemLines() []int {
	root := t.node()
	if root == nil {
		return nil
	}
	_, items := lookup(root, "items")
	if items == nil {
		return nil
	}
	lines := make([]int, len(items.Content))
	for i, item := range items.Content {
		lines[i] = t.position(item).Line
	}
	return lines
}

// Locate finds the fields of the object, each or else its nearest parent.
func (d *Document) Locate(fields []string) []Position {
	found := make([]Position, len(fields))
	if len(fields) == 0 {
		return found
	}
	root := d.root()
	if root == nil {
		return found
	}
	f := finder{}
	for i, field := range fields {
		found[i] = d.text.position(f.nearest(root, field))
	}
	return found
}

// KeyOnLine is where a key stands on a line.
func (d *Document) KeyOnLine(line int, key string) (at Position, ok bool) {
	text, _, ok := d.SourceLine(Position{line, 1})
	i := strings.Index(text, key)
	if !ok || i < 0 {
		return Position{}, false
	}
	return Position{line, utf8.RuneCountInString(text[:i]) + 1}, true
}

// root is the object's own node; nil where it is not known.
func (d *Document) root() *yaml3.Node {
	if d.text == nil {
		return nil
	}
	root := d.text.node()
	if root != nil && d.item {
		root = element(root, "items", d.Item)
	}
	return root
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
	root := t.node()
	if root == nil {
		return false
	}
	_, items := lookup(root, "items")
	return items == nil || items.Style&yaml3.FlowStyle != 0
}

func (t *text) lineOf(at Position) (line string, index int, ok bool) {
	if at.Line < t.line {
		return "", 0, false
	}
	rest, n := t.text, t.line
	for ; n < at.Line; n++ {
		_, after, found := bytes.Cut(rest, newline)
		if !found {
			return "", 0, false
		}
		rest = after
	}
	rest, _, _ = bytes.Cut(rest, newline)
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

func element(root *yaml3.Node, list string, i int) *yaml3.Node {
	_, items := lookup(root, list)
	if items == nil || i >= len(items.Content) {
		return nil
	}
	return items.Content[i]
}

// nearest follows a cause's field as far as the object goes. The place of a
// field is its key.
func (f finder) nearest(root *yaml3.Node, field string) *yaml3.Node {
	steps, err := engine.ParsePath(field)
	if err != nil || field == "<nil>" {
		return root
	}
	place, node := root, root
	for i := 0; i < len(steps); i++ {
		if steps[i].Item {
			if node.Kind != yaml3.SequenceNode || steps[i].Index >= len(node.Content) {
				return place
			}
			node = node.Content[steps[i].Index]
			place = node
			continue
		}
		// A key with dots is several steps in the texts of schema errors.
		name, used := steps[i].Name, 0
		key, value := f.lookup(node, name)
		for value == nil && i+used+1 < len(steps) && !steps[i+used+1].Item {
			used++
			name += "." + steps[i+used].Name
			key, value = f.lookup(node, name)
		}
		if value == nil {
			return place
		}
		i += used
		place, node = key, value
	}
	return place
}

// finder remembers the keys of large mappings, so that many fields of one are
// found in time.
type finder map[*yaml3.Node]map[string]int

const largeMapping = 64 // nodes

func (f finder) lookup(node *yaml3.Node, name string) (key, value *yaml3.Node) {
	node = target(node)
	if node.Kind != yaml3.MappingNode || len(node.Content) < largeMapping {
		return lookup(node, name)
	}
	keys := f[node]
	if keys == nil {
		keys = make(map[string]int, len(node.Content)/2)
		for i := len(node.Content) - 2; i >= 0; i -= 2 { // of equal keys the first
			keys[node.Content[i].Value] = i
		}
		f[node] = keys
	}
	i, ok := keys[name]
	if !ok {
		return nil, nil
	}
	return node.Content[i], node.Content[i+1]
}

func lookup(node *yaml3.Node, name string) (key, value *yaml3.Node) {
	node = target(node)
	if node.Kind != yaml3.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// yamlError puts the file's line numbers into a decoder's text, which counts
// from the document's start.
func yamlError(err error, first int) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	text = yamlLine.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(s[len("line "):])
		return fmt.Sprintf("line %d", n+first-1)
	})
	return fmt.Errorf("%s", strings.ReplaceAll(text, "\n  ", " "))
}
