package conversion_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// The module conformance compares the messages with the real API server's.
func TestAnswersMetadata(t *testing.T) {
	t.Parallel()
	const invalid = "conversion webhook for w.test/v1, Kind=Widget returned invalid "
	for name, test := range map[string]struct {
		meta any
		want any // the metadata, or an error
	}{
		"as it was":         {map[string]any{"name": "a", "uid": "u", "labels": map[string]any{"l": "1"}}, map[string]any{"name": "a", "uid": "u", "generation": int64(2), "labels": map[string]any{"l": "1"}}},
		"labels gone":       {map[string]any{"name": "a", "uid": "u"}, map[string]any{"name": "a", "uid": "u", "generation": int64(2)}},
		"null":              {map[string]any{"name": "a", "uid": "u", "labels": nil}, map[string]any{"name": "a", "uid": "u", "generation": int64(2)}},
		"others put back":   {map[string]any{"name": "a", "uid": "u", "generation": int64(9), "finalizers": []any{"f"}, "annotations": map[string]any{"n": "x"}}, map[string]any{"name": "a", "uid": "u", "generation": int64(2), "annotations": map[string]any{"n": "x"}}},
		"name":              {map[string]any{"name": "b", "uid": "u"}, invalid + "object: must have the same name: a != b"},
		"namespace":         {map[string]any{"name": "a", "uid": "u", "namespace": "n"}, invalid + "object: must have the same namespace:  != n"},
		"uid":               {map[string]any{"name": "a"}, invalid + "object: must have the same UID: u != "},
		"text":              {"text", invalid + "object: must have the same name: a != "},
		"labels text":       {map[string]any{"name": "a", "uid": "u", "labels": "x"}, invalid + "metadata: invalid metadata.labels of type string in converted object"},
		"label number":      {map[string]any{"name": "a", "uid": "u", "labels": map[string]any{"z": int64(1), "b": 1.5}}, invalid + "metadata: metadata.labels[b] must be a string, but is float64 in converted object"},
		"annotation number": {map[string]any{"name": "a", "uid": "u", "annotations": map[string]any{"n": true}}, invalid + "metadata: metadata.annotations[n] must be a string, but is bool in converted object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := question()
			q.Object["metadata"] = map[string]any{"name": "a", "uid": "u", "generation": int64(2), "labels": map[string]any{"l": "1"}}
			before := widget("v1")["spec"]
			out, err := conversion.Func(func(_ context.Context, obj map[string]any, to string) (map[string]any, error) {
				obj["apiVersion"], obj["metadata"] = to, test.meta
				return obj, nil
			}).Convert(t.Context(), q)
			if want, ok := test.want.(string); ok {
				var failed *conversion.Error
				var unknown *engine.NotCheckedError
				if !errors.As(err, &failed) || failed.Failure != conversion.Wrong || err.Error() != want || errors.As(err, &unknown) {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			if d := cmp.Diff(test.want, out["metadata"]); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
			if d := cmp.Diff(before, q.Object["spec"]); d != "" {
				t.Errorf("the object in the request differs:\n%s", d)
			}
		})
	}
	// The converter is not called for objects that need no conversion.
	nobody := conversion.Func(func(context.Context, map[string]any, string) (map[string]any, error) { panic("asked") })
	q := question()
	q.APIVersion = "w.test/v1"
	if out, err := nobody.Convert(t.Context(), q); err != nil || out["apiVersion"] != "w.test/v1" {
		t.Error(out, err)
	}
	q = engine.Conversion{Object: map[string]any{"apiVersion": "w.test/v1", "kind": "Widget"}, APIVersion: "w.test/v2"}
	if out, err := nobody.Convert(t.Context(), q); err != nil || out["apiVersion"] != "w.test/v2" {
		t.Error(out, err)
	}
}
