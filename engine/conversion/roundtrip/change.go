package roundtrip

import (
	"math/rand/v2"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/valuediff"
)

// changeTo is a difference between an object and another of its version, by lot;
// nil where there is none.
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
	return &Change{Path: engine.FormatPath(c.Path), Value: c.After, Removed: c.Removed, steps: c.Path}
}

// apply is a copy of the object with the change; nil where it does not fit.
func (c *Change) apply(obj map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(obj)
	last := len(c.steps) - 1
	parent, ok := at(out, c.steps[:last])
	if !ok {
		return nil
	}
	switch parent := parent.(type) {
	case map[string]any:
		if c.Removed {
			delete(parent, c.steps[last].Name)
			return out
		}
		parent[c.steps[last].Name] = runtime.DeepCopyJSONValue(c.Value)
	case []any:
		if !c.steps[last].Item || c.steps[last].Index >= len(parent) {
			return nil
		}
		parent[c.steps[last].Index] = runtime.DeepCopyJSONValue(c.Value)
	default:
		return nil
	}
	return out
}

// in: an object has the change.
func (c *Change) in(obj map[string]any) bool {
	v, ok := at(obj, c.steps)
	if c.Removed {
		return !ok
	}
	return ok && reflect.DeepEqual(v, c.Value)
}

// at is the value of a place.
func at(v any, steps []engine.Step) (any, bool) {
	for _, s := range steps {
		switch parent := v.(type) {
		case map[string]any:
			below, ok := parent[s.Name]
			if !ok || s.Item {
				return nil, false
			}
			v = below
		case []any:
			if !s.Item || s.Index >= len(parent) {
				return nil, false
			}
			v = parent[s.Index]
		default:
			return nil, false
		}
	}
	return v, true
}
