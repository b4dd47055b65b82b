package ruletest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// generated lists the metadata fields that are not compared.
var generated = []string{
	"uid", "generation", "creationTimestamp", "resourceVersion", "managedFields", "deletionGracePeriodSeconds", "deletionTimestamp", "selfLink", "generateName",
}

const maxDifferences = 5

// The metadata fields in maybe are compared only if they are expected.
func differences(want, got map[string]any, maybe ...string) (found []string) {
	want, got = compared(want, got, maybe...)
	for c := range valuediff.Values(want, got) {
		if len(found) == maxDifferences {
			break
		}
		if !c.Added && !c.Removed && sameJSON(c.Before, c.After) {
			continue
		}
		was, is := preview.JSON(c.Before, maxShown), preview.JSON(c.After, maxShown)
		switch {
		case c.Added:
			was = "nothing"
		case c.Removed:
			is = "nothing"
		}
		found = append(found, fmt.Sprintf("%s: %s, want %s", engine.FormatPath(c.Path), is, was))
	}
	return found
}

func compared(want, got map[string]any, maybe ...string) (w, g map[string]any) {
	w, g = maps.Clone(want), maps.Clone(got)
	wanted, meta := metadata(w), metadata(g)
	for _, name := range generated {
		delete(wanted, name)
		delete(meta, name)
	}
	for _, name := range maybe {
		if _, ok := wanted[name]; !ok {
			delete(meta, name)
		}
	}
	settle(w, wanted)
	settle(g, meta)
	return w, g
}

// metadata returns a copy of an object's metadata, which is never nil.
func metadata(obj map[string]any) map[string]any {
	out := map[string]any{}
	meta, _ := obj["metadata"].(map[string]any)
	maps.Copy(out, meta)
	return out
}

func settle(obj, meta map[string]any) {
	if len(meta) == 0 {
		delete(obj, "metadata")
		return
	}
	obj["metadata"] = meta
}

const maxShown = 80 // characters of a value

// sameJSON reports whether two values are equal in JSON, which does not distinguish 1 and 1.0.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
