package ruletest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/celadon-cel/celadon/internal/text/preview"
)

// generated lists the metadata fields that a server or client fills in.
var generated = []string{
	"uid", "generation", "creationTimestamp", "resourceVersion", "managedFields", "deletionGracePeriodSeconds", "deletionTimestamp", "selfLink", "generateName",
}

// maxDifferences limits the number of differences that are reported.
const maxDifferences = 5

// differences describes how a persisted object differs from the expected object. The metadata fields
// in maybe are compared only if they are expected.
func differences(want, got map[string]any, maybe ...string) []string {
	d := differ{}
	want, got = compared(want, got, maybe...)
	d.compare("", want, got)
	return d.found
}

// compared returns the two objects without generated metadata, and got without the fields in maybe
// that want does not have.
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

// metadata returns a copy of an object's metadata.
func metadata(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	return maps.Clone(meta)
}

// settle sets an object's metadata, or removes it if it is empty.
func settle(obj, meta map[string]any) {
	if len(meta) == 0 {
		delete(obj, "metadata")
		return
	}
	obj["metadata"] = meta
}

type differ struct{ found []string }

func (d *differ) compare(path string, want, got any) {
	if len(d.found) >= maxDifferences {
		return
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := slices.Sorted(maps.Keys(w))
		for _, name := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[name]; !ok {
				names = append(names, name)
			}
		}
		for _, name := range names {
			d.member(path, name, w, g)
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			break
		}
		for i := range w {
			d.compare(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
		}
		return
	}
	if !sameScalar(want, got) {
		d.add(path, preview.JSON(want, maxShown), preview.JSON(got, maxShown))
	}
}

const maxShown = 80 // characters of a value

func (d *differ) member(path, name string, want, got map[string]any) {
	w, wanted := want[name]
	g, there := got[name]
	if path += "." + name; len(path) == len(name)+1 {
		path = name
	}
	switch {
	case !wanted && len(d.found) < maxDifferences:
		d.add(path, "nothing", preview.JSON(g, maxShown))
	case !there && len(d.found) < maxDifferences:
		d.add(path, preview.JSON(w, maxShown), "nothing")
	default:
		d.compare(path, w, g)
	}
}

func (d *differ) add(path, want, got string) {
	if path == "" {
		path = "the object"
	}
	d.found = append(d.found, fmt.Sprintf("%s: %s, want %s", path, got, want))
}

// sameScalar reports whether two scalars are equal. Numbers are compared by value, as in JSON.
func sameScalar(a, b any) bool {
	x, isNumber := asFloat(a)
	y, isToo := asFloat(b)
	if isNumber && isToo {
		return a == b || x == y
	}
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
