package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// Document is one object as it stands in a file.
type Document struct {
	File  string // as the user named it; "-" is standard input
	Index int    // of the document in the file, from 0
	Item  int    // of a List, from 0
	Line  int    // of the object, from 1; 0 where there is none
	// Live is true of what a cluster has: File is how the object is named there, and
	// no file.
	Live bool

	// Object is the decoded object; nil when Err is set.
	Object map[string]any
	// Raw is the object's JSON where it has duplicate keys, which Object does
	// not show.
	Raw []byte
	// Duplicate is what a server that is sent YAML says of duplicate keys; kubectl
	// sends JSON, with the last of their values.
	Duplicate error
	Err       error

	json []byte // what Object was decoded from, if that was JSON
	text *text
	item bool // of a List in text

	duplicates []duplicateKey
	seen       map[string]any // of what may not decode
}

// Named is as much of the object as tells what it is called: all of it, or what was
// seen of one that Chunk.Skip was asked about, also where it cannot be decoded. It is
// nil where nothing is known.
func (d *Document) Named() map[string]any {
	if d.seen != nil {
		return d.seen
	}
	return d.Object
}

// Complete says what kind of object this is, where it does not say so itself.
func (d *Document) Complete(apiVersion, kind string) {
	d.Object["apiVersion"], d.Object["kind"] = apiVersion, kind
	d.json = nil
}

// Place is where the document stands, for messages.
func (d *Document) Place() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// JSON is the object as JSON.
func (d *Document) JSON() ([]byte, error) {
	switch {
	case d.Err != nil:
		return nil, d.Err
	case d.json != nil:
		return d.json, nil
	}
	return json.Marshal(d.Object)
}

// FromJSON is what Object was decoded from; nil where that was no JSON.
func (d *Document) FromJSON() []byte { return d.json }

// AsWritten is true where Object is all that its source, YAML, says: no key is there
// twice.
func (d *Document) AsWritten() bool {
	return d.Err == nil && d.text != nil && d.json == nil && d.Raw == nil && d.Duplicate == nil && !d.item
}

// ErrNoObject is the error of a document that is no mapping.
var ErrNoObject = errors.New("not a Kubernetes object: want a mapping with apiVersion and kind")

// Each decodes the chunk's documents, in order, until yield says false.
func (c Chunk) Each(yield func(*Document) bool) bool {
	if c.Skip != nil {
		if seen := c.glimpse(); seen != nil {
			d := c.document(nil)
			if d.Object = seen; c.Skip(d) {
				return yield(d)
			}
			decoded := yield
			yield = func(d *Document) bool {
				d.seen = seen
				return decoded(d)
			}
		}
	}
	switch c.form {
	case smallFile:
		return c.small(yield)
	case jsonValue, jsonItem:
		return c.json(yield)
	case yamlDocument:
		return c.yaml(yield)
	case liveObject:
		return yield(c.live())
	}
	return yield(c.document(c.err))
}

// small reads a file that was small when it was found.
func (c *Chunk) small(yield func(*Document) bool) bool {
	f, err := openRegular(c.File)
	if err != nil {
		return yield(&Document{File: c.File, Err: WithoutPath(err)})
	}
	defer f.Close()
	each := func(part Chunk) bool {
		part.Skip = c.Skip
		return part.Each(yield)
	}
	data, err := sized(io.LimitReader(f, small), c.size)
	if err != nil || len(data) == small { // it has grown
		return split(c.File, io.MultiReader(bytes.NewReader(data), f), func() {}, each)
	}
	s := splitter{file: c.File, w: bytesWindow(data), yield: each}
	return s.run()
}

func (c *Chunk) document(err error) *Document {
	return &Document{File: c.File, Index: c.index, Item: c.item, Line: c.line, Live: c.form == liveObject || c.form == lostObjects, Err: err}
}

func (c *Chunk) json(yield func(*Document) bool) bool {
	if c.text[0] != '{' {
		return yield(c.document(c.notObject()))
	}
	if err := decode.Values(c.text); err != nil {
		return yield(c.document(err))
	}
	var obj map[string]any
	sent := decode.Sent(c.text)
	strict, err := kjson.UnmarshalStrict(sent, &obj)
	if err != nil {
		if c.flow && !json.Valid(c.text) { // else a number that is too large
			if _, _, flowErr := decode.Decode(c.text); flowErr == nil {
				return c.yaml(yield)
			}
		}
		return yield(c.document(c.syntax(sent, err)))
	}
	d := c.document(nil)
	d.Object, d.json = obj, sent
	d.text = &text{text: c.text, before: c.before, line: c.line, column: c.column}
	if len(strict) > 0 {
		d.Raw = sent
	}
	return yield(d)
}

// notObject tells a value of another kind from what is no JSON at all.
func (c *Chunk) notObject() error {
	var v any
	if err := json.Unmarshal(c.text, &v); err != nil {
		return c.syntax(c.text, err)
	}
	return ErrNoObject
}

// syntax is the error of decoding text with its line in the file, where that is
// not the object's own.
func (c *Chunk) syntax(text []byte, err error) error {
	if ok, offset := kjson.SyntaxErrorOffset(err); ok {
		before := text[:min(int(offset), len(text))]
		if n := bytes.Count(before, []byte("\n")); n > 0 {
			return &SyntaxError{c.line + n, fmt.Sprintf("not JSON: line %d: %v", c.line+n, err)}
		}
	}
	return fmt.Errorf("not JSON: %w", err)
}

func (c *Chunk) yaml(yield func(*Document) bool) bool {
	line := c.line
	c.line += leading(c.text)
	v, duplicate, err := decode.Decode(c.text)
	if err != nil {
		return yield(c.document(yamlError(err, line)))
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return yield(c.document(ErrNoObject))
	}
	d := c.document(nil)
	d.Object, d.text = obj, &text{text: c.text, line: line, column: 1}
	find := func(d *Document) {
		if duplicate != nil {
			d.duplicate(duplicate, line)
		}
	}
	kind, _ := obj["kind"].(string)
	items, ok := obj["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		find(d)
		return yield(d)
	}
	return d.items(items, find, yield)
}

// items takes a YAML List apart.
func (d *Document) items(items []any, find func(*Document), yield func(*Document) bool) bool {
	lines := d.text.itemLines()
	for i, item := range items {
		one := *d
		one.Item, one.item = i, true
		if i < len(lines) {
			one.Line = lines[i]
		}
		var ok bool
		if one.Object, ok = item.(map[string]any); !ok {
			one.Err = ErrNoObject
		}
		find(&one)
		if !yield(&one) {
			return false
		}
	}
	return true
}
