package compare

import (
	"context"
	"iter"
	"maps"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// Change is a place in which two objects differ.
type Change = valuediff.Change

// Values are the places in which two decoded values differ, in the order of
// their fields. Lists of different lengths differ as wholes.
func Values(before, after any) iter.Seq[Change] { return valuediff.Values(before, after) }

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
		seenBefore, err1 := before.Prepare(update)
		seenAfter, err2 := after.Prepare(update)
		if err1 != nil || err2 != nil {
			return nil, nil
		}
		was, is = seenBefore.Self(), seenAfter.Self()
	}
	return withoutMetadata(was), withoutMetadata(is)
}

func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}
