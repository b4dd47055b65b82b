package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/text/jsontext"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// A Document is an object in the input.
type Document struct {
	File  string // path for messages; "-" is standard input
	Index int    // of the document in the file, from 0
	Item  int    // index in a List, from 0
	Line  int    // where the object begins, or Err occurred; from 1; 0 if unknown
	// Live is set for objects of a cluster. File then holds the resource, and the namespace and name if they are
	// known.
	Live bool
	// Rendered is set for an object that kustomize or helm printed. File is the source file, if that is known.
	Rendered bool

	// Object is the decoded object, or nil if it could not be decoded.
	Object map[string]any
	// Original is the object that Object was derived from, if any.
	Original map[string]any
	// Raw is the source if that is JSON with duplicate keys, which Object cannot represent.
	Raw []byte
	// Duplicate is the API server's error for duplicate keys in a YAML body. With kubectl, the last
	// value wins, because kubectl sends JSON.
	Duplicate error
	Err       error
	// Unrelated is set if the file is known not to mention apiVersion, so that it is unlikely to have Kubernetes
	// objects.
	Unrelated bool

	json []byte // JSON form of Object; nil if the source is YAML or Object was replaced
	text *text
	item bool // an item of the List in text

	duplicates []duplicateKey
}

// Complete sets the object's apiVersion and kind.
func (d *Document) Complete(apiVersion, kind string) {
	d.Object["apiVersion"], d.Object["kind"] = apiVersion, kind
	d.json = nil
}

// Derived returns a document with the source of d and an object that was derived from d.Object.
func (d *Document) Derived(object map[string]any) *Document {
	out := *d
	out.Original, out.Object, out.json = d.Object, object, nil
	return &out
}

// Changed returns a document with the source of d and object instead of d.Object.
func (d *Document) Changed(object map[string]any) *Document {
	out := *d
	out.Object, out.Raw, out.json = object, nil, nil
	return &out
}

// Location returns file:line for messages, or only the file if the line is unknown.
func (d *Document) Location() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// JSON returns the object as JSON, or d.Err if that is set.
func (d *Document) JSON() ([]byte, error) {
	switch {
	case d.Err != nil:
		return nil, d.Err
	case d.json != nil:
		return d.json, nil
	}
	return json.Marshal(d.Object)
}

// FromJSON returns Object as JSON, or nil if the source was not JSON or Object was replaced.
func (d *Document) FromJSON() []byte { return d.json }

// AsWritten reports whether Object represents all of its YAML source, which has no duplicate keys. It returns
// false for items of a List.
func (d *Document) AsWritten() bool {
	return d.Err == nil && d.text != nil && d.json == nil && d.Raw == nil && d.Duplicate == nil && !d.item
}

// ErrNoObject reports a document that is not a mapping.
var ErrNoObject = errors.New("not a Kubernetes object: want a mapping with apiVersion and kind")

// Each decodes the chunk's documents, in order, until yield returns false. It reports whether yield always
// returned true.
func (c Chunk) Each(yield func(*Document) bool) bool {
	if c.Expand != nil {
		expand, each := c.Expand, yield
		c.Expand = nil
		yield = func(d *Document) bool {
			for _, one := range expand(d) {
				if !each(one) {
					return false
				}
			}
			return true
		}
	}
	switch {
	case c.form == smallFile:
		return c.small(yield)
	case c.Skip != nil && c.text != nil && c.Skip(c.text):
		return true
	}
	switch c.form {
	case jsonValue, jsonItem:
		return c.json(yield)
	case yamlDocument:
		return c.yaml(yield)
	case liveObject:
		return yield(c.live())
	}
	return yield(c.document(c.err))
}

func (c *Chunk) small(yield func(*Document) bool) bool {
	f, err := reopened(c.File)
	if err != nil {
		return yield(&Document{File: c.File, Err: WithoutPath(err)})
	}
	defer f.Close()
	each := func(part Chunk) bool { return part.Each(yield) }
	data := make([]byte, c.size+1)
	n, err := f.Read(data)
	if data = data[:n]; err != nil && err != io.EOF || int64(n) != c.size { // the file has changed
		return split(c.File, io.MultiReader(bytes.NewReader(data), f), func() {}, each)
	}
	if c.Skip != nil && c.Skip(data) {
		return true
	}
	s := splitter{file: c.File, w: bytesWindow(data), yield: each}
	return s.run()
}

func (c *Chunk) document(err error) *Document {
	return &Document{File: c.File, Index: c.index, Item: c.item, Line: c.line, Live: c.form == liveObject || c.form == lostObjects, Err: err, Unrelated: c.unrelated}
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
		if c.flow && !json.Valid(c.text) { // otherwise a number is too large
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

func (c *Chunk) notObject() error {
	var v any
	if err := json.Unmarshal(c.text, &v); err != nil {
		return c.syntax(c.text, err)
	}
	return ErrNoObject
}

func (c *Chunk) syntax(text []byte, err error) error {
	e := &SyntaxError{Line: c.line, message: fmt.Sprintf("not JSON: %v", err)}
	if ok, offset := kjson.SyntaxErrorOffset(err); ok {
		e.Line += bytes.Count(text[:min(int(offset), len(text))], newline)
		if e.Line > c.line {
			e.message = fmt.Sprintf("not JSON: line %d: %v", e.Line, err)
		}
	}
	return e
}

func (c *Chunk) yaml(yield func(*Document) bool) bool {
	line := c.line
	c.line += leading(c.text)
	v, duplicate, err := decode.Decode(c.text)
	if err != nil {
		wrong := yamlError(err, c.text, line)
		if wrong.Line > 0 {
			c.line = wrong.Line
		}
		return yield(c.document(wrong))
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

// Live returns a chunk for an object that a cluster sent. Its document has the form of kubectl get -o json:
// indented, without managedFields.
func Live(resource, apiVersion, kind string, sent []byte) Chunk {
	return Chunk{File: resource, form: liveObject, apiVersion: apiVersion, kind: kind, line: 1, column: 1, text: sent}
}

// Lost returns a chunk for objects of a cluster that could not be read. Its document has the error.
func Lost(resource string, err error) Chunk {
	return Chunk{File: resource, form: lostObjects, err: err}
}

func (c *Chunk) live() *Document {
	d := c.document(nil)
	err := decode.Values(c.text)
	var obj map[string]any
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(decode.Sent(c.text), &obj)
	}
	if err == nil && obj == nil {
		err = ErrNoObject
	}
	if err != nil {
		d.Err = fmt.Errorf("the server's response is not an object: %w", err)
		var head struct {
			Metadata struct{ Namespace, Name string }
		}
		if json.Unmarshal(c.text, &head) == nil {
			d.File = liveName(c.File, head.Metadata.Namespace, head.Metadata.Name)
		}
		return d
	}
	// Servers omit apiVersion and kind in the items of lists of built-in types.
	if obj["apiVersion"] == nil && obj["kind"] == nil {
		obj["apiVersion"], obj["kind"] = c.apiVersion, c.kind
	}
	meta := Metadata(obj)
	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	d.File = liveName(c.File, namespace, name)
	if obj["apiVersion"] != c.apiVersion || obj["kind"] != c.kind {
		d.Err = fmt.Errorf("the server's response has kind %v of %v: want %s of %s", obj["kind"], obj["apiVersion"], c.kind, c.apiVersion)
		return d
	}
	delete(meta, "managedFields")
	data, err := json.Marshal(obj)
	var shown bytes.Buffer
	if err == nil {
		err = jsontext.Indent(&shown, data, "", "    ")
	}
	if err != nil {
		d.Err = err
		return d
	}
	d.Object, d.json = obj, shown.Bytes()
	d.text = &text{text: d.json, line: 1, column: 1}
	return d
}

func liveName(resource, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	if name == "" {
		return resource
	}
	return resource + "/" + name
}

// Source returns the source of the object, or of the YAML List that contains it, and the line of the
// file on which the source begins. It returns nil if the source is unknown.
func (d *Document) Source() (source []byte, line int, inList bool) {
	if d.text == nil {
		return nil, 0, false
	}
	return d.text.text, d.text.line, d.item
}

// Detach copies the document's source, so that the rest of the file can be freed. Items of a List keep the List.
func (d *Document) Detach() {
	if d.text != nil && !d.item {
		d.text = &text{text: bytes.Clone(d.text.text), before: bytes.Clone(d.text.before), line: d.text.line, column: d.text.column}
	}
	d.json = bytes.Clone(d.json)
}

// Edited returns a document for an object whose source is known, for example in an editor. line is
// the line in the file on which source begins, or 0 if it is not in a file.
func Edited(file string, source []byte, line, item int, inList bool, object map[string]any) *Document {
	line = max(1, line)
	return &Document{
		File: file, Item: item, Line: line + leading(source), Object: object, item: inList,
		text: &text{text: source, line: line, column: 1},
	}
}
