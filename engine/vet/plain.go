package vet

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// A schema is plain only if it has one of a few known shapes. TestReducedFindsNothing compares this
// with the server's function, and TestSchemaFields fails if schemas get new fields.

// plainItself reports whether a schema is plain apart from its rules and its children. The children
// are checked separately.
func (r *reducer) plainItself(s *props) bool {
	switch {
	case s.ID != "", s.Schema != "", s.Ref != nil, s.UniqueItems, s.AdditionalItems != nil,
		len(s.AllOf) > 0, len(s.OneOf) > 0, s.Not != nil, len(s.AnyOf) > 0 && !s.XIntOrString,
		s.PatternProperties != nil, s.Dependencies != nil, s.Definitions != nil,
		s.XEmbeddedResource, s.Example != nil, !plainEnum(s),
		s.Items != nil && (s.Type != "array" || s.Items.Schema == nil || len(s.Items.JSONSchemas) > 0),
		s.Type != "object" && (len(s.Properties) > 0 || s.AdditionalProperties != nil || s.XMapType != nil),
		len(s.Properties) > 0 && s.AdditionalProperties != nil,
		s.XPreserveUnknownFields != nil && (!*s.XPreserveUnknownFields || s.Type != "object" && s.Type != ""),
		s.XListType == nil && len(s.XListMapKeys) > 0, s.XListType != nil && s.Type != "array",
		s.Pattern != "" && !r.patterns.measure(s.Pattern).valid,
		s.Format != "" && !r.knows(s):
		return false
	}
	return plainKind(s) && (s.Default == nil || plainDefault(s))
}

// plainKind reports whether the keywords that depend on the type are plain.
func plainKind(s *props) bool {
	switch s.Type {
	case "string", "integer", "number", "boolean":
		return !s.XIntOrString
	case "object":
		return !s.XIntOrString && (s.XMapType == nil || *s.XMapType == "atomic" || *s.XMapType == "granular")
	case "array":
		return !s.XIntOrString && s.Items != nil && plainList(s)
	case "":
		if s.XIntOrString {
			return s.XPreserveUnknownFields == nil && (len(s.AnyOf) == 0 || reflect.DeepEqual(s.AnyOf, intOrString))
		}
		return s.XPreserveUnknownFields != nil
	}
	return false
}

// intOrString is the only anyOf that x-kubernetes-int-or-string allows.
var intOrString = []props{{Type: "integer"}, {Type: "string"}}

func plainList(s *props) bool {
	items := s.Items.Schema
	if s.XListType == nil || *s.XListType == "atomic" {
		return len(s.XListMapKeys) == 0
	}
	switch *s.XListType {
	case "set":
		return len(s.XListMapKeys) == 0 && !items.Nullable && items.Type != "object" && items.Type != "array"
	case "map":
		if items.Type != "object" || items.Nullable || len(s.XListMapKeys) == 0 {
			return false
		}
		for i, key := range s.XListMapKeys {
			prop, ok := items.Properties[key]
			if !ok || slices.Contains(s.XListMapKeys[:i], key) || prop.Type == "object" || prop.Type == "array" || prop.Nullable ||
				prop.Default == nil && !slices.Contains(items.Required, key) {
				return false
			}
		}
		return true
	}
	return false
}

// plainEnum reports whether enum is empty or contains only plain strings.
func plainEnum(s *props) bool {
	return len(s.Enum) == 0 || s.Type == "string" && !slices.ContainsFunc(s.Enum, func(one apiextensionsv1.JSON) bool { return !structural.PlainText(one.Raw) })
}

// plainDefault reports whether the default is valid at a glance: a value restricted only by its
// type, a string of the enum, or an integer between plain bounds.
func plainDefault(s *props) bool {
	raw := s.Default.Raw
	switch s.Type {
	case "string":
		free := s.Format == "" && s.Pattern == "" && s.MinLength == nil && s.MaxLength == nil
		return free && structural.PlainText(raw) && (len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(one apiextensionsv1.JSON) bool { return bytes.Equal(one.Raw, raw) }))
	case "boolean":
		return string(raw) == "true" || string(raw) == "false"
	case "integer":
		value, err := strconv.ParseInt(string(raw), 10, 32)
		within := (s.Minimum == nil || *s.Minimum <= float64(value) && plainBound(*s.Minimum)) && (s.Maximum == nil || float64(value) <= *s.Maximum && plainBound(*s.Maximum))
		return err == nil && strconv.FormatInt(value, 10) == string(raw) && s.MultipleOf == nil && !s.ExclusiveMinimum && !s.ExclusiveMaximum && within
	}
	return false
}

// plainBound reports whether a bound fits every signed integer type. If there is a default, the
// server also checks its bounds against the type.
func plainBound(bound float64) bool {
	return bound == math.Trunc(bound) && math.Abs(bound) <= math.MaxInt32
}

// knows reports whether the server recognizes the format.
func (r *reducer) knows(s *props) bool {
	return s.Format == "" || schema.KnowsFormat(r.minor, s.Format, s.Type)
}
