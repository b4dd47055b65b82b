// Package crdcopy makes copies of CRDs that differ at one place of a schema and
// share all else with what they were made of.
//
//	mutant, ok := crdcopy.With(crd, "v1", steps, func(at *apiextensionsv1.JSONSchemaProps) {
//		at.MaxItems = nil
//	})
package crdcopy

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
)

// With is a CRD with a change at a place of one version; ok is false where there
// is no such place. What change is given is a copy, whose slices and maps are the
// original's.
func With(crd *apiextensionsv1.CustomResourceDefinition, version string, at []path.Step, change func(*apiextensionsv1.JSONSchemaProps)) (out *apiextensionsv1.CustomResourceDefinition, ok bool) {
	changed := *crd
	changed.Spec.Versions = slices.Clone(crd.Spec.Versions)
	for i := range changed.Spec.Versions {
		v := &changed.Spec.Versions[i]
		if v.Name != version || v.Schema == nil {
			continue
		}
		schema := *v.Schema
		if schema.OpenAPIV3Schema, ok = Schema(schema.OpenAPIV3Schema, at, change); ok {
			v.Schema = &schema
			return &changed, true
		}
	}
	return crd, false
}

// Schema is a schema with a change at a place, as With has it.
func Schema(s *apiextensionsv1.JSONSchemaProps, at []path.Step, change func(*apiextensionsv1.JSONSchemaProps)) (out *apiextensionsv1.JSONSchemaProps, ok bool) {
	if s == nil {
		return nil, false
	}
	changed := *s
	if len(at) == 0 {
		change(&changed)
		return &changed, true
	}
	step, rest := at[0], at[1:]
	switch {
	case !step.Any:
		field, there := s.Properties[step.Name]
		if !there {
			return s, false
		}
		below, ok := Schema(&field, rest, change)
		if !ok {
			return s, false
		}
		changed.Properties = maps.Clone(s.Properties)
		changed.Properties[step.Name] = *below
	case s.Items != nil:
		below, ok := Schema(s.Items.Schema, rest, change)
		if !ok {
			return s, false
		}
		changed.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: below}
	case s.AdditionalProperties != nil:
		below, ok := Schema(s.AdditionalProperties.Schema, rest, change)
		if !ok {
			return s, false
		}
		changed.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: below}
	default:
		return s, false
	}
	return &changed, true
}
