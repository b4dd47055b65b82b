package vet

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// Versions that warn (apiextensions-apiserver, pkg/registry/customresourcedefinition/strategy.go and
// pkg/apiserver/validation/formats.go).
var (
	stringFormatWarnings = minors.Since(34)
	formatWarnings       = minors.Since(36)
	setWarnings          = minors.Since(37)
)

// The server does not repeat warnings that apply to the old CRD.
func warnings(crd, old *apiextensions.CustomResourceDefinition, v types.Version) []string {
	now := schemaWarnings(&crd.Spec, v)
	if old == nil {
		return now
	}
	before := schemaWarnings(&old.Spec, v)
	return slices.DeleteFunc(now, func(w string) bool { return slices.Contains(before, w) })
}

// schemaWarnings sorts the warnings, because the server's order is random.
func schemaWarnings(crd *apiextensions.CustomResourceDefinitionSpec, v types.Version) []string {
	unknown, sets := map[string]bool{}, map[string]bool{}
	validation.HasSchemaWith(crd, func(root *apiextensions.JSONSchemaProps) bool {
		return validation.SchemaHas(root, func(s *apiextensions.JSONSchemaProps) bool {
			warns := formatWarnings.Include(v.Minor) || s.Type == "string" && stringFormatWarnings.Include(v.Minor)
			if warns && s.Format != "" && !schema.KnowsFormat(v.Minor, s.Format, s.Type) {
				unknown[fmt.Sprintf("unrecognized format %q", s.Format)] = true
			}
			if text := setWarning(s); text != "" && setWarnings.Include(v.Minor) {
				sets[text] = true
			}
			return false
		})
	})
	return append(sortedKeys(unknown), sortedKeys(sets)...)
}

func setWarning(s *apiextensions.JSONSchemaProps) string {
	if s.XListType == nil || *s.XListType != "set" || s.Items == nil || s.Items.Schema == nil {
		return ""
	}
	switch t := s.Items.Schema.Type; t {
	case "object", "array":
		return fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t)
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
