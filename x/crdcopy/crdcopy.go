// Package crdcopy copies CRDs with a change to a single schema node. The copy shares all other nodes
// with the original.
//
//	mutant, ok := crdcopy.With(crd, "v1", steps, func(at *apiextensionsv1.JSONSchemaProps) {
//		at.MaxItems = nil
//	})
package crdcopy

import (
	"iter"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types/path"
)

// With returns a copy of crd in which change was applied to the schema node at a path of a version. ok is false if
// the node does not exist. change receives a shallow copy, whose slices and maps are shared with the original.
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

// Schema is like With for a single schema.
func Schema(s *apiextensionsv1.JSONSchemaProps, at []path.Step, change func(*apiextensionsv1.JSONSchemaProps)) (out *apiextensionsv1.JSONSchemaProps, ok bool) {
	if s == nil {
		return nil, false
	}
	changed := *s
	if len(at) == 0 {
		change(&changed)
		return &changed, true
	}
	below, ok := Schema(next(s, at[0]), at[1:], change)
	switch step := at[0]; {
	case !ok:
		return s, false
	case !step.Any:
		changed.Properties = maps.Clone(s.Properties)
		changed.Properties[step.Name] = *below
	case s.Items != nil:
		changed.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: below}
	default:
		changed.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: below}
	}
	return &changed, true
}

func next(s *apiextensionsv1.JSONSchemaProps, step path.Step) *apiextensionsv1.JSONSchemaProps {
	field, ok := s.Properties[step.Name]
	switch {
	case ok && !step.Any:
		return &field
	case step.Any && s.Items != nil:
		return s.Items.Schema
	case step.Any && s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema
	}
	return nil
}

// Children yields the schemas of items and additionalProperties, and of properties sorted by name,
// with their steps.
func Children(s *apiextensionsv1.JSONSchemaProps) iter.Seq2[path.Step, *apiextensionsv1.JSONSchemaProps] {
	return func(yield func(path.Step, *apiextensionsv1.JSONSchemaProps) bool) {
		if s.Items != nil && s.Items.Schema != nil && !yield(path.Step{Any: true}, s.Items.Schema) {
			return
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && !yield(path.Step{Any: true}, s.AdditionalProperties.Schema) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			field := s.Properties[name]
			if !yield(path.Step{Name: name}, &field) {
				return
			}
		}
	}
}

// At returns the schema of the values at a path of an object or a schema, or nil if it does not exist.
func At(s *apiextensionsv1.JSONSchemaProps, at ...path.Step) *apiextensionsv1.JSONSchemaProps {
	for _, step := range at {
		if s == nil {
			return nil
		}
		field, ok := s.Properties[step.Name]
		switch {
		case ok && !step.Any && !step.Item:
			s = &field
		case (step.Any || step.Item) && s.Items != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil:
			s = s.AdditionalProperties.Schema
		default:
			return nil
		}
	}
	return s
}
