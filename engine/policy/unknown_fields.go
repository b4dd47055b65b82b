package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// maxUnknown is the number of unknown fields that the server's decoder reports.
const maxUnknown = 100 // sigs.k8s.io/json, kubernetes_patch.go

// checkFields returns the server's error if a strict schema does not declare a field of the object. m may be nil.
func (m *MergeSchema) checkFields(object map[string]any) error {
	if m == nil || !m.strict {
		return nil
	}
	unknown := unknownFields(m.typed.Schema, m.typed.TypeRef, object, "", nil)
	if len(unknown) == 0 {
		return nil
	}
	return apierrors.NewInternalError(fmt.Errorf("strict decoding error: %s", strings.Join(unknown, ", ")))
}

// unknownFields appends an error for each field in v that is not declared. v is at path.
func unknownFields(s *schema.Schema, t schema.TypeRef, v any, path string, unknown []string) []string {
	atom, ok := s.Resolve(t)
	switch v := v.(type) {
	case map[string]any:
		if !ok || atom.Map == nil {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if f, ok := atom.Map.FindField(name); ok {
				unknown = unknownFields(s, f.Type, v[name], at, unknown)
			} else if atom.Map.ElementType != (schema.TypeRef{}) {
				unknown = unknownFields(s, atom.Map.ElementType, v[name], at, unknown)
			} else if len(unknown) < maxUnknown {
				unknown = append(unknown, fmt.Sprintf("unknown field %q", at))
			}
		}
	case []any:
		if !ok || atom.List == nil {
			break
		}
		for i, item := range v {
			unknown = unknownFields(s, atom.List.ElementType, item, fmt.Sprintf("%s[%d]", path, i), unknown)
		}
	}
	return unknown
}
