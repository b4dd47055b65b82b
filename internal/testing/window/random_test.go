package window

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The values of a random mostly fit a schema.
type random struct{ *rand.Rand }

func (r random) object(crd *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion) map[string]any {
	obj := map[string]any{}
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		obj, _ = r.value(v.Schema.OpenAPIV3Schema).(map[string]any)
	}
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = crd.Spec.Group+"/"+v.Name, crd.Spec.Names.Kind
	obj["metadata"] = map[string]any{"name": "n", "namespace": "default"}
	return obj
}

var texts = []string{"", "a", "abc", "A b", "1", "10Gi", "2024-01-01T00:00:00Z", "1h", "10.0.0.1", "10.0.0.0/8", "https://example.com/x?y=z", "é", "*/5 * * * *"}

// About once in thirty times, the type of a value is random.
func (r random) value(s *apiextensionsv1.JSONSchemaProps) any {
	if len(s.Enum) > 0 && r.IntN(8) > 0 {
		var v any
		if json.Unmarshal(s.Enum[r.IntN(len(s.Enum))].Raw, &v) == nil {
			return v
		}
	}
	kind := s.Type
	if s.XIntOrString {
		kind = []string{"integer", "string"}[r.IntN(2)]
	}
	if r.IntN(30) == 0 {
		kind = ""
	}
	switch kind {
	case "object":
		return r.fields(s)
	case "array":
		items := make([]any, 0, 3)
		for range r.IntN(4) {
			if s.Items != nil && s.Items.Schema != nil {
				items = append(items, r.value(s.Items.Schema))
			}
		}
		return items
	case "integer":
		return []any{int64(0), int64(1), int64(-1), int64(5), int64(1 << 40)}[r.IntN(5)]
	case "number":
		return []any{int64(1), 0.5, -2.25, 1e100}[r.IntN(4)]
	case "boolean":
		return r.IntN(2) == 0
	case "string":
		return texts[r.IntN(len(texts))]
	}
	return []any{nil, "x", int64(3), true, 1.5, map[string]any{"x": "y"}, []any{"z"}}[r.IntN(7)]
}

func (r random) fields(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) && r.IntN(20) > 0 || r.IntN(2) == 0 {
			property := s.Properties[name]
			fields[name] = r.value(&property)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for range r.IntN(3) {
			fields[texts[r.IntN(len(texts))]] = r.value(s.AdditionalProperties.Schema)
		}
	}
	if r.IntN(20) == 0 {
		fields["unknownField"] = "x"
	}
	return fields
}
