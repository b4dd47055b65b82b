package input

import (
	"encoding/json"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/yamldoc"
)

// Live is an object of a cluster as its server sends it, of which the kind is
// known. Its documents are shown as kubectl get -o json shows them: set in, without
// managedFields. The resource names it, and no file.
func Live(resource, apiVersion, kind string, sent []byte) Chunk {
	return Chunk{File: resource, form: liveObject, apiVersion: apiVersion, kind: kind, line: 1, column: 1, text: sent}
}

// Lost is what could not be read; its document says why.
func Lost(file string, err error) Chunk { return Chunk{File: file, err: err} }

func (c *Chunk) live() *Document {
	d := c.document(nil)
	d.Live = true
	var obj map[string]any
	err := yamldoc.Values(c.text)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(yamldoc.Sent(c.text), &obj)
	}
	if err == nil && obj == nil {
		err = ErrNoObject
	}
	if err != nil {
		d.Err = fmt.Errorf("the server sent what is no object: %w", err)
		return d
	}
	// Lists of what a server is compiled with leave these out of each item.
	if obj["apiVersion"] == nil && obj["kind"] == nil {
		obj["apiVersion"], obj["kind"] = c.apiVersion, c.kind
	}
	meta, _ := obj["metadata"].(map[string]any)
	d.File = liveName(c.File, meta)
	if obj["apiVersion"] != c.apiVersion || obj["kind"] != c.kind {
		d.Err = fmt.Errorf("the server sent kind %v of %v: want %s of %s", obj["kind"], obj["apiVersion"], c.kind, c.apiVersion)
		return d
	}
	delete(meta, "managedFields")
	shown, err := json.MarshalIndent(obj, "", "    ")
	if err != nil {
		d.Err = err
		return d
	}
	d.Object, d.json = obj, shown
	d.text = &text{text: shown, line: 1, column: 1}
	return d
}

// liveName is how an object is named where others have files.
func liveName(resource string, meta map[string]any) string {
	name, _ := meta["name"].(string)
	if namespace, ok := meta["namespace"].(string); ok {
		name = namespace + "/" + name
	}
	return resource + "/" + name
}
