package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// Document is a CRD or an object with the text that it was read from.
type Document struct {
	// File is where it came from, as the user named it.
	File string
	// Text is the whole YAML document, or JSON value, that holds it.
	Text []byte
	// Line is the line of File that Text begins on, from 1.
	Line int
	// InList is true when Text is a List and Item the position in it.
	InList bool
	Item   int
	// JSON is the CRD or object itself.
	JSON []byte
}

// Host is what a session may ask of the world. A command whose function is nil
// says that it cannot be used here.
type Host struct {
	// Load reads all documents of a file or folder.
	Load func(path string) ([]Document, error)
	// Save writes a CRD and gives the name of the file: the document's own, when
	// SaveRequest.File is another name for that.
	Save func(SaveRequest) (file string, err error)
	// Files are the paths that begin so, for completion.
	Files func(prefix string) []string
	// Check is the report of celadon check on one object.
	Check func(ctx context.Context, e *engine.Engine, obj, old *Document) (string, error)
	// CheckStatus is the report of celadon check --subresource status on one object.
	CheckStatus func(ctx context.Context, e *engine.Engine, obj, old *Document) (string, error)
}

// SaveRequest asks for a CRD to be written.
type SaveRequest struct {
	// Document is the CRD as its file has it: where it holds anything else there,
	// nothing is to be written.
	Document Document
	// Text stands in place of Document.Text.
	Text []byte
	// File is another file, that the whole of the CRD's file so changed is to be
	// written into. It must not exist unless Over is set; "" is the CRD's own.
	File string
	Over bool
	// Keep are files that are never to be written, but for the CRD's own.
	Keep []string
}

// convert reads text again after an edit.
func (d Document) convert(text []byte) (Document, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return d, err
	}
	d.Text, d.JSON = text, data
	if !d.InList {
		return d, nil
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return d, err
	}
	if d.Item >= len(list.Items) {
		return d, fmt.Errorf("items[%d]: the list has %d", d.Item, len(list.Items))
	}
	d.JSON = list.Items[d.Item]
	return d, nil
}

// Kind is the document's kind; "" when it is no Kubernetes object. It reads no
// further than it must: a CRD can be large.
func (d Document) Kind() string {
	dec := json.NewDecoder(bytes.NewReader(d.JSON))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return ""
		}
		var kind string
		if key == "kind" && json.Unmarshal(value, &kind) == nil {
			return kind
		}
	}
	return ""
}

func (d Document) isCRD() bool { return d.Kind() == "CustomResourceDefinition" }

// object is a loaded or edited object.
type object struct {
	doc   Document
	value map[string]any
	// file is where the object was loaded from, before any edit.
	file string
	// prepared is the object as rules see it.
	prepared map[string]any
}

func newObject(doc Document) (*object, error) {
	value, err := engine.Decode(doc.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doc.File, err)
	}
	return &object{doc: doc, value: value, file: doc.File}, nil
}

// edited is the object with another value; its text is then ours.
func (o *object) edited(value map[string]any) (*object, error) {
	text, err := yaml.Marshal(value)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	name := o.doc.File
	if o.doc.Line > 0 {
		name += " (edited)"
	}
	return &object{doc: Document{File: name, Text: text, JSON: data}, value: value, file: o.file}, nil
}
