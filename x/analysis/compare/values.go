package compare

import (
	"context"
	"iter"
	"maps"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A Change is a path at which two objects differ.
type Change = valuediff.Change

// Values returns the paths at which two decoded values differ, in the order of their fields. Lists
// of different lengths differ as a whole.
func Values(before, after any) iter.Seq[Change] { return valuediff.Values(before, after) }

// Kept returns an object as the CRDs before and after a change persist it in an update that changes
// nothing. unchanged is the result of that update under the new CRD. If either CRD rejects the
// update, both objects are returned as read. Metadata is omitted, because CRDs do not change it.
// The results are nil if the object cannot be read.
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
