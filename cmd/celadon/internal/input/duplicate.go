package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"

	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// duplicateKey is a key that its mapping had before. kubectl's decoder keeps the
// last of such values without a word; a server that is sent YAML complains. It
// complains, too, of a key that overrides one that "<<" merged, which is what "<<"
// is for; here that is none.
type duplicateKey struct {
	complaint string // the server's
	key       *position.Node
}

// duplicates are those in and below a node, in the server's order; but is left
// out.
func (t *text) duplicates(n, but *position.Node) (found []duplicateKey) {
	seen := map[any]bool{}
	for i, item := range n.Items {
		if item != but {
			found = append(found, t.duplicates(item, nil)...)
		}
		if n.Kind != position.Mapping || n.Keys[i].IsMerge() {
			continue
		}
		name, ok := keyOf(n.Keys[i])
		if !ok {
			continue
		}
		if seen[name] {
			line := t.position(item.Begin).Line
			found = append(found, duplicateKey{fmt.Sprintf("line %d: key %#v already set in map", line, name), n.Keys[i]})
		}
		seen[name] = true
	}
	return found
}

// mostOfItem is how many duplicate keys are told of a List with each of its
// items, and how many of each item.
const mostOfItem = 10

// outside are those of a List outside of its items.
func (t *text) outside() []duplicateKey {
	if t.around == nil {
		found := t.duplicates(t.root(), t.items())
		t.around = append([]duplicateKey{}, found[:min(len(found), mostOfItem)]...)
	}
	return t.around
}

// inside are those of an item, which several may be by aliases.
func (t *text) inside(item *position.Node) []duplicateKey {
	found, ok := t.within[item]
	if !ok {
		if t.within == nil {
			t.within = map[*position.Node][]duplicateKey{}
		}
		found = t.duplicates(item, nil)
		found = append([]duplicateKey{}, found[:min(len(found), mostOfItem)]...)
		t.within[item] = found
	}
	return found
}

// keyOf is a key as the decoder has it; ok is false for what is no scalar. A word
// may be a number or a boolean.
func keyOf(key *position.Node) (name any, ok bool) {
	if key = key.Resolve(); key.Kind != position.Scalar {
		return nil, false
	}
	if key.Style != position.Plain || key.Tag == "!!str" && !strings.ContainsAny(key.Value[:min(1, len(key.Value))], "yYnNoO0123456789+-.") {
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
	if !d.item {
		d.duplicates = d.text.duplicates(root, nil)
		d.Duplicate = complain(d.duplicates)
		return
	}
	// The List's own, and those of an item that aliases name, are told with many
	// items: together they must not be more than the text.
	d.duplicates = append(slices.Clone(d.text.outside()), d.text.inside(root.Resolve())...)
	d.Duplicate = complain(d.duplicates)
}

// DuplicateKey is a key that its mapping had before, with the server's complaint.
type DuplicateKey struct {
	Position
	Key, Complaint string
	// Around is true of a key of the List around the object.
	Around bool
}

// DuplicateKeys are those whose keys are strings, as far as they are known.
func (d *Document) DuplicateKeys() []DuplicateKey {
	keys := make([]DuplicateKey, 0, len(d.duplicates))
	around := 0
	if d.item {
		around = len(d.text.around)
	}
	for i, k := range d.duplicates {
		if name, ok := keyOf(k.key); ok {
			if name, ok := name.(string); ok {
				keys = append(keys, DuplicateKey{d.text.position(k.key.Start), name, k.complaint, i < around})
			}
		}
	}
	return keys
}
