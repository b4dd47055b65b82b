package structural

import (
	"bytes"
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// Encoded returns the result of encoding and decoding s. The API server receives schemas of CRDs
// that are built in Go in this form. It returns s itself if nothing changes, or if s has a value
// that is not JSON; otherwise, a copy.
func Encoded(s *props) *props {
	if s == nil || !encodingChanges(s) {
		return s
	}
	data, err := json.Marshal(s)
	if err != nil {
		return s
	}
	var out props
	if json.Unmarshal(data, &out) != nil {
		return s
	}
	return &out
}

// EncodedCRD returns crd with all its schemas as Encoded returns them, or nil if crd is nil.
func EncodedCRD(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	if crd == nil {
		return nil
	}
	changed := crd
	for i := range crd.Spec.Versions {
		v := crd.Spec.Versions[i].Schema
		if v == nil {
			continue
		}
		if s := Encoded(v.OpenAPIV3Schema); s != v.OpenAPIV3Schema {
			if changed == crd {
				changed = crd.DeepCopy()
			}
			changed.Spec.Versions[i].Schema.OpenAPIV3Schema = s
		}
	}
	return changed
}

func encoded(v *apiextensionsv1.CustomResourceValidation) *apiextensionsv1.CustomResourceValidation {
	if v == nil {
		return nil
	}
	return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: Encoded(v.OpenAPIV3Schema)}
}

// encodingChanges reports whether encoding changes a schema. Encoding omits empty lists and maps, and values
// that are null. A schema of additionalProperties implies Allows, and a list of schemas hides a single schema.
func encodingChanges(s *props) bool {
	if isEmptyList(s.Required) || isEmptyList(s.Enum) || isEmptyList(s.AllOf) || isEmptyList(s.AnyOf) || isEmptyList(s.OneOf) ||
		isEmptyList(s.XListMapKeys) || isEmptyList(s.XValidations) ||
		isEmptyMap(s.Properties) || isEmptyMap(s.PatternProperties) || isEmptyMap(s.Definitions) || isEmptyMap(s.Dependencies) ||
		s.Default != nil && isNull(*s.Default) || s.Example != nil && isNull(*s.Example) ||
		slices.ContainsFunc(s.Enum, func(v apiextensionsv1.JSON) bool { return v.Raw != nil && isNull(v) }) {
		return true
	}
	if items := s.Items; items != nil {
		if (items.Schema != nil) == (items.JSONSchemas != nil) || items.Schema == nil && len(items.JSONSchemas) == 0 ||
			items.Schema != nil && encodingChanges(items.Schema) || listChanges(items.JSONSchemas) {
			return true
		}
	}
	for _, more := range []*apiextensionsv1.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if more != nil && more.Schema != nil && (!more.Allows || encodingChanges(more.Schema)) {
			return true
		}
	}
	for _, d := range s.Dependencies {
		if isEmptyList(d.Property) || d.Schema != nil && (len(d.Property) > 0 || encodingChanges(d.Schema)) {
			return true
		}
	}
	for _, named := range []map[string]props{s.Properties, s.PatternProperties, s.Definitions} {
		for _, property := range named {
			if encodingChanges(&property) {
				return true
			}
		}
	}
	return listChanges(s.AllOf) || listChanges(s.AnyOf) || listChanges(s.OneOf) || s.Not != nil && encodingChanges(s.Not)
}

func listChanges(list []props) bool {
	return slices.ContainsFunc(list, func(s props) bool { return encodingChanges(&s) })
}

func isEmptyList[T any](list []T) bool { return list != nil && len(list) == 0 }

func isEmptyMap[M ~map[string]T, T any](m M) bool { return m != nil && len(m) == 0 }

func isNull(v apiextensionsv1.JSON) bool {
	raw := bytes.TrimSpace(v.Raw)
	return len(raw) == 0 || string(raw) == "null"
}
