// Package compare tells what another CRD does to objects: what of an object is
// kept otherwise, and how two decoded objects differ. It has no I/O.
package compare

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

// Change is a place in which two objects differ.
type Change struct {
	Path []engine.Step
	// Before and After are the values; one that is not there at all is nil and
	// Added or Removed says so.
	Before, After  any
	Added, Removed bool
}

// Kept is an object as it is kept under the CRDs before and after a change of
// them, by an update that changes nothing; unchanged is the answer of the CRD
// after. Where either refuses that, the object is as it is read. Metadata, which
// no CRD changes, is left out. Nil is one that cannot be read.
func Kept(ctx context.Context, before, after *engine.Engine, update engine.Request, unchanged *engine.Result) (was, is map[string]any) {
	update.Trace = false
	is = unchanged.Object
	if res, err := before.Validate(ctx, update); err == nil {
		was = res.Object
	}
	if was == nil || is == nil {
		var err1, err2 error
		was, err1 = before.Prepare(update.Object)
		is, err2 = after.Prepare(update.Object)
		if err1 != nil || err2 != nil {
			return nil, nil
		}
	}
	return withoutMetadata(was), withoutMetadata(is)
}

func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}

// Objects are the places in which two decoded objects differ, in the order of
// their fields. Lists of different lengths differ as wholes.
func Objects(before, after map[string]any) []Change {
	var d differ
	d.fields(nil, before, after)
	return d.changes
}

type differ struct{ changes []Change }

func (d *differ) compare(path []engine.Step, before, after any) {
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		d.fields(path, was, is)
		return
	}
	wasList, ok1 := before.([]any)
	isList, ok2 := after.([]any)
	if ok1 && ok2 && len(wasList) == len(isList) {
		for i := range wasList {
			d.compare(append(slices.Clip(path), engine.Step{Item: true, Index: i}), wasList[i], isList[i])
		}
		return
	}
	if !reflect.DeepEqual(before, after) {
		d.changes = append(d.changes, Change{Path: path, Before: before, After: after})
	}
}

func (d *differ) fields(path []engine.Step, was, is map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := append(slices.Clip(path), engine.Step{Name: name})
		before, had := was[name]
		after, has := is[name]
		if had && has {
			d.compare(at, before, after)
		} else {
			d.changes = append(d.changes, Change{Path: at, Before: before, After: after, Added: !had, Removed: !has})
		}
	}
}
