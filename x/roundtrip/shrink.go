package roundtrip

import (
	"context"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// The maximum number of smaller objects that are tried for each finding, and for all findings together.
const (
	shrinkTrips    = 200
	allShrinkTrips = 2000
)

// Findings that take long to reproduce are not shrunk.
func (t *tester) shrink(ctx context.Context, f *Finding) (*Finding, error) {
	if f.Kind == Slow || f.Kind == NoAnswer {
		return f, nil
	}
	left := min(shrinkTrips, allShrinkTrips-t.shrunk)
	for changed := true; changed; {
		changed = false
		for n := 0; left > 0; {
			smaller, ok := without(f.Object, n)
			if !ok {
				break
			}
			left--
			t.shrunk++
			shows, err := t.shows(ctx, f, smaller)
			if err != nil {
				return nil, err
			}
			if shows == nil {
				n++
				continue
			}
			f, changed = shows, true
		}
	}
	return f, nil
}

func (t *tester) shows(ctx context.Context, f *Finding, obj map[string]any) (*Finding, error) {
	whole, _, err := t.forms.admits(ctx, obj)
	if err != nil || whole == nil || reflect.DeepEqual(whole, f.Object) {
		return nil, err
	}
	again := &trip{tester: t, ctx: ctx, from: f.From, to: f.To, object: whole, change: f.Change}
	if err := again.run(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(again.found, func(g *Finding) bool { return g.key() == f.key() })
	if i < 0 {
		return nil, nil
	}
	return again.found[i], nil
}

func without(obj map[string]any, n int) (map[string]any, bool) {
	steps, ok := nth(obj, n)
	if !ok {
		return nil, false
	}
	out := runtime.DeepCopyJSON(obj)
	last := len(steps) - 1
	parent, _ := valuediff.At(out, steps[:last]...)
	switch parent := parent.(type) {
	case map[string]any:
		delete(parent, steps[last].Name)
	case []any:
		shorter := slices.Delete(slices.Clone(parent), steps[last].Index, steps[last].Index+1)
		out = valuediff.Merge(out, patchOf(out, steps[:last], shorter, false)).(map[string]any)
	}
	return out, true
}

// nth returns the path of the nth value that may be removed, in breadth-first order.
func nth(obj map[string]any, n int) ([]engine.Step, bool) {
	type level struct {
		path []engine.Step
		v    any
	}
	for queue := []level{{nil, obj}}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if len(here.path) > 0 && !fixed(here.path) {
			if n == 0 {
				return here.path, true
			}
			n--
		}
		for step, v := range valuediff.Children(here.v) {
			queue = append(queue, level{append(slices.Clip(here.path), step), v})
		}
	}
	return nil, false
}

// fixed reports whether every object has the path.
func fixed(path []engine.Step) bool {
	switch path[0].Name {
	case "apiVersion", "kind":
		return true
	case "metadata":
		return len(path) == 1 || path[1].Name == "name"
	}
	return false
}
