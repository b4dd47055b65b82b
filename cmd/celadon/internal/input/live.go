package input

import (
	"bytes"
	"encoding/json"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/text/jsontext"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// Live returns a chunk for an object that a cluster sent. Its document has the form of kubectl get
// -o json: indented, without managedFields. The document's File is made from the resource and the
// object's name.
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

// liveName returns the name of a cluster's object, which is used instead of a file name.
func liveName(resource, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	if name == "" {
		return resource
	}
	return resource + "/" + name
}
