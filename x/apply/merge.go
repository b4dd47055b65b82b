package apply

import (
	"encoding/json"
	"maps"
	"reflect"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: the libraries of kubectl and of the server encode and decode an object about ten times for a patch.
// Applied merges plain objects in one pass instead, and leaves other objects to the libraries: objects with nulls,
// with floats or very large integers, or whose identity changes. TestApplied compares both.

// Applied returns the object of a custom resource after kubectl apply, as Patched does with the patch of Patch.
// patched returns its JSON. Applied returns nil if there is nothing to send. The error is a *PatchError. The result
// may share memory with live and object.
func Applied(live, object map[string]any) (applied map[string]any, patched func() ([]byte, error), err error) {
	if merged, ok := plainMerge(live, object); ok {
		if reflect.DeepEqual(merged, live) {
			return nil, nil, nil
		}
		return merged, func() ([]byte, error) { return json.Marshal(merged) }, nil
	}
	patch, err := Patch(live, object, nil)
	if patch == nil {
		return nil, nil, err
	}
	data, err := Patched(live, patch, nil)
	if err == nil {
		applied, err = engine.Decode(data)
	}
	if err != nil {
		return nil, nil, &PatchError{err}
	}
	return applied, func() ([]byte, error) { return data, nil }, nil
}

// plainMerge returns the object after an apply. It may decline any object, but its result is always the same as
// with the libraries.
func plainMerge(live, object map[string]any) (merged map[string]any, ok bool) {
	var original map[string]any
	if text := Annotation(live, LastApplied); text != "" && kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &original) != nil {
		return nil, false
	}
	object, err := withLastApplied(object)
	if err != nil || !plain(object) || !plain(original) || live["apiVersion"] != object["apiVersion"] || live["kind"] != object["kind"] {
		return nil, false
	}
	merged = mergeMaps(live, original, object)
	name := func(o map[string]any) any { meta, _ := o["metadata"].(map[string]any); return meta["name"] }
	return merged, name(merged) == name(live) && merged["apiVersion"] == live["apiVersion"] && merged["kind"] == live["kind"]
}

// maxExact is the largest n for which a float64 represents all integers from -n to n.
const maxExact = 1 << 53

// plain reports whether a value has no nulls, and no numbers except integers that a float64 represents exactly.
func plain(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !plain(value) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range v {
			if !plain(item) {
				return false
			}
		}
		return true
	case int64:
		return v <= maxExact && v >= -maxExact
	case string, bool:
		return true
	}
	return false
}

// mergeMaps returns live with the fields of next, and without the fields of original that next does not have.
func mergeMaps(live, original, next map[string]any) map[string]any {
	merged := maps.Clone(live)
	for name, value := range next {
		fields, isMap := value.(map[string]any)
		was, wasMap := live[name].(map[string]any)
		if isMap && wasMap {
			before, _ := original[name].(map[string]any)
			value = mergeMaps(was, before, fields)
		}
		merged[name] = value
	}
	for name := range original {
		if _, ok := next[name]; !ok {
			delete(merged, name)
		}
	}
	return merged
}
