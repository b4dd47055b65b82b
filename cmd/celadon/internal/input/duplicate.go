package input

import (
	"errors"
	"fmt"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"

	"github.com/celadon-cel/celadon/internal/yamlpos"
)

// duplicateKey is a key that its mapping had before. kubectl's decoder keeps the
// last of such values without a word; a server that is sent YAML complains. It
// complains, too, of a key that overrides one that "<<" merged, which is what "<<"
// is for; here that is none.
type duplicateKey struct {
	complaint string // the server's
	line      int    // in it: the value's
	key       *yamlpos.Node
}

// duplicates are those in and below a node, in the server's order; but is left
// out.
func (t *text) duplicates(n, but *yamlpos.Node) (found []duplicateKey) {
	seen := map[any]bool{}
	for i, item := range n.Items {
		if item != but {
			found = append(found, t.duplicates(item, nil)...)
		}
		if n.Kind != yamlpos.Mapping || n.Keys[i].IsMerge() {
			continue
		}
		name, ok := keyOf(n.Keys[i])
		if !ok {
			continue
		}
		if seen[name] {
			line := t.position(item.Begin).Line
			found = append(found, duplicateKey{fmt.Sprintf("line %d: key %#v already set in map", line, name), line, n.Keys[i]})
		}
		seen[name] = true
	}
	return found
}

// keyOf is a key as the decoder has it; ok is false for what is no scalar. A word
// may be a number or a boolean.
func keyOf(key *yamlpos.Node) (name any, ok bool) {
	if key = key.Resolve(); key.Kind != yamlpos.Scalar {
		return nil, false
	}
	if key.Style != yamlpos.Plain || key.Tag == "!!str" && !strings.ContainsAny(key.Value[:min(1, len(key.Value))], "yYnNoO0123456789+-.") {
		return key.Value, true
	}
	err := yaml2.Unmarshal([]byte(key.Value), &name)
	switch name.(type) {
	case map[any]any, []any: // "n:" alone is a mapping
		return key.Value, true
	}
	if err != nil {
		return key.Value, true
	}
	return name, name != nil // of null it says nothing
}

// complain tells of duplicate keys in and below a node, in the server's words for
// a body in YAML; nil where there are none.
func complain(duplicates []duplicateKey) error {
	if len(duplicates) == 0 {
		return nil
	}
	texts := make([]string, len(duplicates))
	for i, key := range duplicates {
		texts[i] = key.complaint
	}
	return errors.New("yaml: unmarshal errors: " + strings.Join(texts, " "))
}

// duplicate sets the document's duplicate keys. With an item of a List come those
// of the List itself, which concern all its items.
func (d *Document) duplicate(all error, line int) {
	root := d.root()
	if root == nil { // nobody can say whose they are
		d.Duplicate = yamlError(all, line)
		return
	}
	if d.item {
		d.duplicates = d.text.duplicates(d.text.root(), d.text.items())
		root = root.Resolve()
	}
	d.duplicates = append(d.duplicates, d.text.duplicates(root, nil)...)
	d.Duplicate = complain(d.duplicates)
}

// KeyOnLine is where a duplicate key stands whose value begins on a line.
func (d *Document) KeyOnLine(line int, key string) (at Position, ok bool) {
	for _, k := range d.duplicates {
		if k.line == line && k.key.Value == key {
			return d.text.position(k.key.Start), true
		}
	}
	return Position{}, false
}
