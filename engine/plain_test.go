package engine

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
)

func TestPlainMetadata(t *testing.T) {
	t.Parallel()
	entry := func(name string, v any) map[string]any {
		fields := map[string]any{
			"manager": "m", "operation": "Apply", "apiVersion": "v1", "time": "2024-01-01T00:00:00Z", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{".": map[string]any{}, "f:spec": map[string]any{`k:{"name":"<a>"}`: map[string]any{}}},
		}
		fields[name] = v
		return map[string]any{managedFields: []any{fields}}
	}
	for _, test := range []struct {
		meta  map[string]any
		plain bool
	}{
		{map[string]any{"name": "a", "labels": map[string]any{"a": ""}, generation: int64(1)}, true},
		{map[string]any{"name": ""}, false},
		{map[string]any{"labels": map[string]any{}}, false},
		{map[string]any{"creationTimestamp": "2024-01-01T00:00:00+00:00"}, false},
		{entry("manager", "n"), true},
		{entry("subresource", "status"), true},
		{entry("fieldsV1", map[string]any{}), true},
		{entry("subresource", ""), false},
		{entry("time", nil), false},
		{entry("time", "2024-01-01T00:00:00.5Z"), false},
		{entry("manager", int64(1)), false},
		{entry("other", "x"), false},
		{entry("fieldsV1", map[string]any{"f:a": nil}), false},
		{entry("fieldsV1", map[string]any{"f:\xff": map[string]any{}}), false},
		{map[string]any{managedFields: []any{}}, false},
		{map[string]any{managedFields: []any{"x"}}, false},
		{map[string]any{managedFields: "x"}, false},
	} {
		if got := plainMetadata(test.meta); got != test.plain {
			t.Errorf("%v: got plain %v, want %v", test.meta, got, test.plain)
		}
		decoded, _, err := metadata.Decoding{Repair: true}.Decode(test.meta, nil)
		if err != nil {
			t.Fatal(err)
		}
		is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(decoded)
		if err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(is, test.meta); test.plain && !same {
			t.Errorf("%v: the round trip returns %v", test.meta, is)
		}
	}
}
