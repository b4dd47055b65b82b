package conversion

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

// Func converts by a Go function. It gets a copy of the object, which it may
// change and return, and the apiVersion to convert to. Its error is that of a
// webhook that answers with it; a panic is an error too. Nothing bounds its time but
// its own look at the context.
func Func(f func(ctx context.Context, obj map[string]any, apiVersion string) (map[string]any, error)) *Converter {
	return &Converter{make: func(ctx context.Context, q engine.Conversion) (out map[string]any, err error) {
		defer func() {
			if p := recover(); p != nil {
				out, err = nil, failed(Panicked, q, "failed: the converter panicked: %v", p)
			}
		}()
		out, err = f(ctx, runtime.DeepCopyJSON(q.Object), q.APIVersion)
		switch {
		case err != nil:
			return nil, failed(Failed, q, "failed: %v", err)
		case out == nil:
			return nil, failed(Wrong, q, "failed: the converter returned no object")
		}
		return maps.Clone(out), nil
	}}
}

// None converts as the strategy None does: only apiVersion changes. What the other
// version does not know is pruned by the engine.
func None() *Converter {
	return Func(func(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
		obj["apiVersion"] = apiVersion
		return obj, nil
	})
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
