// Package valuediff tells in what two decoded values differ.
package valuediff

import (
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/types/path"
)

// Change is a place in which two objects differ.
type Change struct {
	Path []path.Step
	// Before and After are the values; one that is not there at all is nil and
	// Added or Removed says so.
	Before, After  any
	Added, Removed bool
}

// Values are the places in which two decoded values differ, in the order of
// their fields. Lists of different lengths differ as wholes.
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

// Merge is an object after a merge patch (RFC 7386). It shares what stays.
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
