package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// A duplicateKey is a key that occurred before in the same mapping. kubectl's decoder silently keeps
// the last value, and a server that is sent YAML reports an error. The server also reports keys that
// override a key merged with "<<", although "<<" allows that. Those keys are not duplicates here.
type duplicateKey struct {
	complaint string // the server's error message
	key       *position.Node
}

// duplicates returns the duplicate keys in the server's order, without those below but.
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

// maxPerItem limits the duplicate keys that are reported per item of a List, and the List's own
// duplicate keys, which are repeated with each item.
const maxPerItem = 10

// first returns at most maxPerItem duplicate keys. Results are cached by node, because aliases can make several
// items share a node.
func (t *text) first(n, but *position.Node) []duplicateKey {
	found, ok := t.within[n]
	if !ok {
		if t.within == nil {
			t.within = map[*position.Node][]duplicateKey{}
		}
		found = t.duplicates(n, but)
		found = slices.Clone(found[:min(len(found), maxPerItem)])
		t.within[n] = found
	}
	return found
}

// keyOf returns a key as the decoder reads it, for example as a number or a boolean. It returns
// false for null and for keys that are not scalars.
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
	return name, name != nil // the server ignores duplicate null keys
}

func complain(duplicates []duplicateKey) error {
	if len(duplicates) == 0 {
		return nil
	}
	texts := make([]string, len(duplicates))
	for i, key := range duplicates {
		texts[i] = key.complaint
	}
	return errors.New("yaml: unmarshal errors:\n  " + strings.Join(texts, "\n  "))
}

func (d *Document) duplicate(all error, line int) {
	root := d.root()
	if root == nil { // the node is unknown, so report all duplicates
		d.Duplicate = duplicatesError(all, line)
		return
	}
	if !d.item {
		d.duplicates = d.text.duplicates(root, nil)
		d.Duplicate = complain(d.duplicates)
		return
	}
	// The duplicates of the List itself, and of an aliased item, are repeated with many items. Both
	// are limited, so that the output does not outgrow the input.
	d.duplicates = slices.Concat(d.text.first(d.text.root(), d.text.items()), d.text.first(root.Resolve(), nil))
	d.Duplicate = complain(d.duplicates)
}

// A DuplicateKey is a key that occurred before in the same mapping, with the server's error message.
type DuplicateKey struct {
	Position
	Key, Complaint string
	// Around is set if the key belongs to the List around the object.
	Around bool
}

// DuplicateKeys returns the duplicate keys that are strings. It omits keys if their positions are unknown.
func (d *Document) DuplicateKeys() []DuplicateKey {
	keys := make([]DuplicateKey, 0, len(d.duplicates))
	around := 0
	if d.item && len(d.duplicates) > 0 {
		around = len(d.text.first(d.text.root(), d.text.items()))
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

// A SyntaxError reports that a document is not valid YAML or JSON.
type SyntaxError struct {
	// Line is the line of the error in the file, or 0 if unknown.
	Line    int
	message string
}

func (e *SyntaxError) Error() string { return e.message }

func suggestsObject(text []byte) bool { return bytes.Contains(text, []byte("apiVersion")) }

var numberedLine = regexp.MustCompile(`\bline (\d+)\b`)

// yamlError converts an error of the YAML decoder. first is the line of the file on which text begins.
func yamlError(err error, text []byte, first int) *SyntaxError {
	e := &SyntaxError{message: strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")}
	if line := decode.ErrorLine(text, err); line > 0 {
		e.Line = first + line - 1
		e.message = strings.Replace(numberedLine.ReplaceAllString(e.message, ""), "yaml: : ", "yaml: ", 1)
		e.message = strings.Replace(e.message, "yaml: ", fmt.Sprintf("yaml: line %d: ", e.Line), 1)
		if words := table.Words("syntax", err.Error()+"\n"+string(decode.LineAt(text, line))); words != "" && !errors.As(err, new(*decode.UnquotedError)) {
			e.message += "; " + words
		}
	}
	return e
}

// duplicatesError converts the YAML decoder's error about duplicate keys, whose line numbers are right. first is
// the line of the file on which the source begins.
func duplicatesError(err error, first int) error {
	return errors.New(numberedLine.ReplaceAllStringFunc(err.Error(), func(s string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(s, "line "))
		return fmt.Sprintf("line %d", n+first-1)
	}))
}
