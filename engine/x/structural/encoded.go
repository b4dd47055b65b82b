package structural

import (
	"bytes"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// Encoded returns s as it is after it was encoded and decoded, which is how the API server receives the
// schemas of CRDs that are built in Go. It returns s itself if nothing changes; otherwise, a copy.
//
// Encoding omits empty lists and maps, and values that are null. A schema of additionalProperties implies
// Allows, and a list of schemas hides a single schema.
func Encoded(s *props) *props {
	if s == nil || !(&encoder{}).schema(s) {
		return s
	}
	s = s.DeepCopy()
	(&encoder{fix: true}).schema(s)
	return s
}

// EncodedCRD returns crd with all its schemas as Encoded returns them, or nil if crd is nil.
func EncodedCRD(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	if crd == nil {
		return nil
	}
	var changed *apiextensionsv1.CustomResourceDefinition
	for i := range crd.Spec.Versions {
		v := crd.Spec.Versions[i].Schema
		if v == nil {
			continue
		}
		if s := Encoded(v.OpenAPIV3Schema); s != v.OpenAPIV3Schema {
			if changed == nil {
				changed = crd.DeepCopy()
			}
			changed.Spec.Versions[i].Schema.OpenAPIV3Schema = s
		}
	}
	if changed != nil {
		return changed
	}
	return crd
}

// encoded is Encoded for the schema of a version.
func encoded(v *apiextensionsv1.CustomResourceValidation) *apiextensionsv1.CustomResourceValidation {
	if v == nil {
		return nil
	}
	if s := Encoded(v.OpenAPIV3Schema); s != v.OpenAPIV3Schema {
		return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s}
	}
	return v
}

// An encoder finds what encoding changes in a schema, and makes the changes if fix is set.
type encoder struct{ fix bool }

func (e *encoder) schema(s *props) (changed bool) {
	for _, here := range []bool{
		emptyList(e, &s.Required), emptyList(e, &s.Enum), emptyList(e, &s.AllOf), emptyList(e, &s.AnyOf), emptyList(e, &s.OneOf),
		emptyList(e, &s.XListMapKeys), emptyList(e, &s.XValidations),
		emptyMap(e, &s.Properties), emptyMap(e, &s.PatternProperties), emptyMap(e, (*map[string]props)(&s.Definitions)),
		e.null(&s.Default), e.null(&s.Example), e.items(s), e.orBool(s.AdditionalProperties), e.orBool(s.AdditionalItems), e.enum(s), e.dependencies(s),
	} {
		changed = changed || here
	}
	for _, list := range [][]props{s.AllOf, s.AnyOf, s.OneOf} {
		changed = e.list(list) || changed
	}
	for _, named := range []map[string]props{s.Properties, s.PatternProperties, s.Definitions} {
		changed = e.named(named) || changed
	}
	return s.Not != nil && e.schema(s.Not) || changed
}

func (e *encoder) list(list []props) (changed bool) {
	for i := range list {
		changed = e.schema(&list[i]) || changed
	}
	return changed
}

func (e *encoder) named(schemas map[string]props) (changed bool) {
	for name, s := range schemas {
		if e.schema(&s) {
			if changed = true; e.fix {
				schemas[name] = s
			}
		}
	}
	return changed
}

// emptyList reports whether list is empty but not nil.
func emptyList[L ~[]T, T any](e *encoder, list *L) bool {
	empty := *list != nil && len(*list) == 0
	if empty && e.fix {
		*list = nil
	}
	return empty
}

func emptyMap(e *encoder, m *map[string]props) bool {
	empty := *m != nil && len(*m) == 0
	if empty && e.fix {
		*m = nil
	}
	return empty
}

func isNull(v apiextensionsv1.JSON) bool {
	raw := bytes.TrimSpace(v.Raw)
	return len(raw) == 0 || string(raw) == "null"
}

func (e *encoder) null(v **apiextensionsv1.JSON) bool {
	null := *v != nil && isNull(**v)
	if null && e.fix {
		*v = nil
	}
	return null
}

// enum reports whether an enum has a null that is not the empty value.
func (e *encoder) enum(s *props) (changed bool) {
	changed = slices.ContainsFunc(s.Enum, func(v apiextensionsv1.JSON) bool { return v.Raw != nil && isNull(v) })
	if !changed || !e.fix {
		return changed
	}
	s.Enum = slices.Clone(s.Enum) // DeepCopy shares it
	for i, v := range s.Enum {
		if isNull(v) {
			s.Enum[i].Raw = nil
		}
	}
	return true
}

func (e *encoder) items(s *props) (changed bool) {
	items := s.Items
	switch {
	case items == nil:
		return false
	case items.Schema == nil && len(items.JSONSchemas) == 0:
		if e.fix {
			s.Items = nil
		}
		return true
	case len(items.JSONSchemas) > 0 && items.Schema != nil, items.Schema != nil && items.JSONSchemas != nil:
		if changed = true; e.fix && len(items.JSONSchemas) > 0 {
			items.Schema = nil
		} else if e.fix {
			items.JSONSchemas = nil
		}
	}
	if len(items.JSONSchemas) > 0 {
		return e.list(items.JSONSchemas) || changed
	}
	return e.schema(items.Schema) || changed
}

func (e *encoder) orBool(s *apiextensionsv1.JSONSchemaPropsOrBool) (changed bool) {
	if s == nil || s.Schema == nil {
		return false
	}
	if changed = !s.Allows; changed && e.fix {
		s.Allows = true
	}
	return e.schema(s.Schema) || changed
}

func (e *encoder) dependencies(s *props) (changed bool) {
	if s.Dependencies != nil && len(s.Dependencies) == 0 {
		if changed = true; e.fix {
			s.Dependencies = nil
		}
	}
	for name, d := range s.Dependencies {
		hidden := len(d.Property) > 0 && d.Schema != nil || len(d.Property) == 0 && d.Property != nil
		if hidden && e.fix {
			if d.Schema = nil; len(d.Property) == 0 {
				d.Schema, d.Property = s.Dependencies[name].Schema, nil
			}
			s.Dependencies[name] = d
		}
		changed = changed || hidden
		if d.Schema != nil {
			changed = e.schema(d.Schema) || changed
		}
	}
	return changed
}
