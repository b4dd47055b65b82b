package conversion

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

// Func returns a Converter that calls a Go function. The function receives a copy of the object,
// which it may modify and return, and the requested apiVersion. Its error is treated like an error
// that a webhook reports; a panic is an error too. Its time is not limited, unless it checks its
// context.
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

// None returns a Converter for the strategy None, which only changes apiVersion. The engine prunes
// fields that the other version does not have.
func None() *Converter {
	return Func(func(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
		obj["apiVersion"] = apiVersion
		return obj, nil
	})
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
