package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/crdedit"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A Document is a CRD or an object, with the text that it was parsed from.
type Document struct {
	// File is the name of the file.
	File string
	// Text is the complete YAML document or JSON value that contains the CRD or object. It is nil for a built-in kind.
	Text []byte
	// Line is the line in File where Text begins, counted from 1, or 0 if it is unknown.
	Line int
	// InList is set if Text is a List. Item is then the index in its items.
	InList bool
	Item   int
	// JSON is the CRD or object itself.
	JSON []byte

	builtin bool // see BuiltinCRD
}

// An Input is a document that a Host read.
type Input struct {
	// File is the name of the file, and Line the line where the object begins, or 0.
	File string
	Line int
	// Object is the decoded object. It is nil if Err is set.
	Object map[string]any
	Err    error
	// Ignored is set for a document that is never sent to a server, such as a patch or a suite.
	Ignored bool
	// Document returns the object with its source. It must be called before take returns.
	Document func() (Document, error)
}

// Host provides a session's access to files and other services. A command that needs Load, Read, Save, Check,
// or CheckStatus returns an error if that function is nil.
type Host struct {
	// Load reads all documents in a file or folder.
	Load func(path string) ([]Document, error)
	// Read reads the documents in files and folders and calls take for each, in order. A path that cannot
	// be read is a document with an error. Read returns the error of take or of ctx.
	Read func(ctx context.Context, paths []string, take func(*Input) error) error
	// Save writes a CRD and returns the name of the file. If SaveRequest.File is another name for
	// the document's own file, that is Document.File.
	Save func(SaveRequest) (file string, err error)
	// Files returns the paths that begin with prefix, for completion.
	Files func(prefix string) []string
	// Check returns the report of celadon check for an object, and CheckStatus the report of celadon check
	// --subresource status.
	Check, CheckStatus Checker
	// CheckApply returns a Checker like Check for objects that are applied. w writes custom resources. If
	// CheckApply is nil, Check is used.
	CheckApply func(w *apply.Writer, how apply.Write) Checker
	// Builtins validates objects of built-in kinds. If it or its Server is nil, only their structure is known.
	Builtins *policyrequest.Builtins
	// Now returns the time of writes in policies. It can be nil.
	Now func() time.Time
}

// A Checker returns the report on the write of an object. old may be nil, and e is nil for an object of a
// built-in kind.
type Checker func(ctx context.Context, e *engine.Engine, obj, old *Document) (string, error)

var errNoFiles = errors.New("files are not available here")

// A SaveRequest describes a CRD to write.
type SaveRequest struct {
	// Document is the CRD, with the text that was last read from or saved to its file. If the file has since changed,
	// Save must not write it.
	Document Document
	// Text replaces Document.Text.
	Text []byte
	// File is another file to write the changed content of the CRD's file to. It must not exist
	// unless Overwrite is set. If File is empty, the CRD's own file is written.
	File      string
	Overwrite bool
	// Keep lists files that must not be overwritten, except for the CRD's own file.
	Keep []string
}

func (d Document) edited(edit func(source *crdedit.CRD) ([]byte, error)) (Document, error) {
	source, err := crdedit.Parse(d.Text, d.InList, d.Item)
	if err != nil {
		return d, err
	}
	text, err := edit(source)
	if err != nil {
		return d, err
	}
	return d.convert(text)
}

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

// Kind returns the kind of the document, or "" if it has none. It decodes only as far as necessary, because a
// CRD can be large.
func (d Document) Kind() string {
	dec := json.NewDecoder(bytes.NewReader(d.JSON))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for dec.More() {
		key, _ := dec.Token()
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

type object struct {
	doc   Document
	value map[string]any
	// file is the file that the object was loaded from, before any edit.
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

func (o *object) edited(value map[string]any) (*object, error) {
	name := o.doc.File
	if o.doc.Line > 0 {
		name += " (edited)"
	}
	doc, err := generated(name, value)
	return &object{doc: doc, value: value, file: o.file}, err
}

func generated(file string, value map[string]any) (doc Document, err error) {
	doc.File = file
	if doc.JSON, err = json.Marshal(value); err == nil {
		doc.Text, err = emit.YAML(value)
	}
	return doc, err
}
