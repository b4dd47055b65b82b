package roundtrip

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// changeTo returns a random difference between an object and another of the same version, or nil if
// they differ only in apiVersion, kind, or metadata.
func changeTo(rng *rand.Rand, obj, other map[string]any) *Change {
	var all []valuediff.Change
	for c := range valuediff.Values(obj, other) {
		switch c.Path[0].Name {
		case "apiVersion", "kind", "metadata":
		default:
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	c := all[rng.IntN(len(all))]
	return &Change{
		Path: engine.FormatPath(c.Path), Value: c.After, Removed: c.Removed,
		Patch: patchOf(obj, c.Path, c.After, c.Removed), steps: c.Path,
	}
}

// patchOf returns a merge patch that sets a value, or removes it if removed is set. Lists are patched as a whole.
func patchOf(obj map[string]any, steps []engine.Step, v any, removed bool) map[string]any {
	whole := runtime.DeepCopyJSONValue(v)
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Item {
			list, _ := valuediff.At(obj, steps[:i]...)
			items := slices.Clone(list.([]any))
			items[steps[i].Index] = valuediff.Merge(items[steps[i].Index], whole)
			whole = items
			continue
		}
		if removed && i == len(steps)-1 {
			whole = nil
		}
		whole = map[string]any{steps[i].Name: whole}
	}
	return whole.(map[string]any)
}

func (c *Change) apply(obj map[string]any) map[string]any {
	return valuediff.Merge(obj, c.Patch).(map[string]any)
}

func (c *Change) in(obj map[string]any) bool { return reflect.DeepEqual(c.apply(obj), obj) }
