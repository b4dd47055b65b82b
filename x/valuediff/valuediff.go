// Package valuediff finds the differences between two decoded values, and the values at paths.
package valuediff

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/celadon-cel/celadon/types/path"
)

// Change is a difference between two values.
type Change struct {
	Path []path.Step
	// Before and After are the values. A missing value is nil, and Added or Removed is set.
	Before, After  any
	Added, Removed bool
}

// Values yields the differences between two decoded values, sorted by field name. Lists of
// different lengths are reported as a whole.
func Values(before, after any) iter.Seq[Change] {
	return func(yield func(Change) bool) { values(nil, before, after, yield) }
}

func values(steps []path.Step, before, after any, yield func(Change) bool) bool {
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		return fields(steps, was, is, yield)
	}
	wasList, ok1 := before.([]any)
	isList, ok2 := after.([]any)
	if ok1 && ok2 && len(wasList) == len(isList) {
		for i := range wasList {
			if !values(append(slices.Clip(steps), path.Step{Item: true, Index: i}), wasList[i], isList[i], yield) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(before, after) || yield(Change{Path: steps, Before: before, After: after})
}

func fields(steps []path.Step, was, is map[string]any, yield func(Change) bool) bool {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := append(slices.Clip(steps), path.Step{Name: name})
		before, had := was[name]
		after, has := is[name]
		if had && has {
			if !values(at, before, after, yield) {
				return false
			}
		} else if !yield(Change{Path: at, Before: before, After: after, Added: !had, Removed: !has}) {
			return false
		}
	}
	return true
}

// Children yields the fields of a map, sorted by name, or the items of a list, with their steps.
func Children(v any) iter.Seq2[path.Step, any] {
	return func(yield func(path.Step, any) bool) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !yield(path.Step{Name: name}, v[name]) {
					return
				}
			}
		case []any:
			for i, item := range v {
				if !yield(path.Step{Item: true, Index: i}, item) {
					return
				}
			}
		}
	}
}

// Merge applies a merge patch (RFC 7386) to an object. The result shares unchanged parts with the object.
func Merge(object, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	was, _ := object.(map[string]any)
	out := make(map[string]any, len(was)+len(p))
	maps.Copy(out, was)
	for name, v := range p {
		if v == nil {
			delete(out, name)
		} else {
			out[name] = Merge(out[name], v)
		}
	}
	return out
}

// At returns the value at a path. ok is false if the path does not exist.
func At(v any, steps ...path.Step) (at any, ok bool) {
	for _, step := range steps {
		switch of := v.(type) {
		case map[string]any:
			if v, ok = of[Key(step)]; !ok {
				return nil, false
			}
		case []any:
			if !step.Item || step.Index >= len(of) {
				return nil, false
			}
			v = of[step.Index]
		default:
			return nil, false
		}
	}
	return v, true
}

// Key returns the name of a step as the key of an object: for an item, its index in decimal.
func Key(step path.Step) string {
	if step.Item {
		return strconv.Itoa(step.Index)
	}
	return step.Name
}
