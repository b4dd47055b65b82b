package vet

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// Most of a schema is plain: nothing that the server's function could say of it,
// and it says nothing of any other part because of it. That function takes long,
// so it is first given the CRD without what is plain. When it finds nothing there,
// it would find nothing at all; else it is asked for its words with the whole.
//
// What is plain is a short list of shapes, and all else is not:
// TestReducedFindsNothing holds it to the whole function, and TestSchemaFields to
// the fields that a schema can have.

// soundReduced is true where the server's function would find nothing.
func (a *admission) soundReduced() bool {
	if keeps := a.crd.Spec.PreserveUnknownFields; keeps == nil || *keeps {
		return false // what a schema must be depends on what is in it
	}
	reduced := *a.crd
	reduced.Spec.Versions = slices.Clone(a.crd.Spec.Versions)
	r := reducer{patterns: map[string]bool{}}
	differ := !a.identicalSchemas()
	for i, u := range a.units {
		if u.whole {
			return false // what a rule says depends on what is plain, too
		}
		from := u.root
		if u.tree != nil {
			from = u.stripped
		}
		s := r.root(from)
		if differ { // as the whole schemas do
			s.Description = fmt.Sprint(i)
		}
		u.place(&reduced.Spec, s)
	}
	return a.findsNothing(&reduced)
}

// findsNothing asks the server's function, which may panic: it is then asked about the
// whole.
func (a *admission) findsNothing(crd *apiextensions.CustomResourceDefinition) bool {
	defer func() { _ = recover() }() // nothing but upstream's function is below
	return len(validation.ValidateCustomResourceDefinition(a.ctx, crd)) == 0
}

// reducer takes out of schemas what is plain.
type reducer struct {
	patterns map[string]bool // those that compile
}

// metadataFields are what the server looks at in an object with a kind.
var metadataFields = []string{"apiVersion", "kind", "metadata"}

func (r *reducer) root(s *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	out, _ := r.node(s, metadataFields)
	copied := *out
	return &copied
}

// node gives a schema without the properties that are plain, but for the pinned
// ones, and says whether it is plain itself.
func (r *reducer) node(s *apiextensions.JSONSchemaProps, pinned []string) (out *apiextensions.JSONSchemaProps, plain bool) {
	if s.XEmbeddedResource || s.Default != nil && len(s.Properties) > 0 {
		return s, false // its properties are not looked at one by one
	}
	out, plain = s, r.plainItself(s)
	junctors := len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.Not != nil
	edit := func() *apiextensions.JSONSchemaProps {
		if out == s {
			c := *s
			out = &c
		}
		return out
	}
	if s.Items != nil && s.Items.Schema != nil {
		sub, ok := r.node(s.Items.Schema, s.XListMapKeys)
		plain = plain && ok
		if sub != s.Items.Schema && !junctors && s.Default == nil {
			edit().Items = &apiextensions.JSONSchemaPropsOrArray{Schema: sub, JSONSchemas: s.Items.JSONSchemas}
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		sub, ok := r.node(s.AdditionalProperties.Schema, nil)
		plain = plain && ok
		if sub != s.AdditionalProperties.Schema && !junctors && s.Default == nil {
			edit().AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: sub}
		}
	}
	if len(s.Properties) == 0 {
		return out, plain
	}
	kept, allPlain := r.properties(s, pinned)
	if s.AdditionalProperties == nil { // of which there may be only one
		if junctors {
			kept = withMentioned(s, kept)
		}
		edit().Properties = kept
	}
	return out, plain && allPlain
}

// properties are those that are not plain, and the pinned ones.
func (r *reducer) properties(s *apiextensions.JSONSchemaProps, pinned []string) (kept map[string]apiextensions.JSONSchemaProps, plain bool) {
	plain = true
	for name := range s.Properties {
		prop := s.Properties[name]
		sub, ok := r.node(&prop, nil)
		plain = plain && ok
		isPinned := slices.Contains(pinned, name)
		if ok && !isPinned {
			continue
		}
		if kept == nil {
			kept = map[string]apiextensions.JSONSchemaProps{}
		}
		if isPinned {
			sub = &prop
		}
		kept[name] = *sub
	}
	return kept, plain
}

// withMentioned adds whole what the junctors of a schema speak of, which must be
// outside of them as well.
func withMentioned(s *apiextensions.JSONSchemaProps, kept map[string]apiextensions.JSONSchemaProps) map[string]apiextensions.JSONSchemaProps {
	var junctor func(*apiextensions.JSONSchemaProps)
	of := func(s *apiextensions.JSONSchemaProps) {
		for _, list := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
			for i := range list {
				junctor(&list[i])
			}
		}
		if s.Not != nil {
			junctor(s.Not)
		}
	}
	junctor = func(sub *apiextensions.JSONSchemaProps) {
		for name := range sub.Properties {
			if prop, ok := s.Properties[name]; ok {
				if kept == nil {
					kept = map[string]apiextensions.JSONSchemaProps{}
				}
				kept[name] = prop
			}
		}
		of(sub)
	}
	of(s)
	return kept
}

// plainItself says whether a schema is plain, but for what is below it.
func (r *reducer) plainItself(s *apiextensions.JSONSchemaProps) bool {
	switch {
	case s.ID != "", s.Schema != "", s.Ref != nil, s.UniqueItems, s.AdditionalItems != nil,
		len(s.AllOf) > 0, len(s.OneOf) > 0, s.Not != nil, len(s.AnyOf) > 0 && !s.XIntOrString,
		s.PatternProperties != nil, s.Dependencies != nil, s.Definitions != nil,
		s.XEmbeddedResource, len(s.XValidations) > 0, len(s.Enum) > 0 && s.Type != "string",
		s.Items != nil && (s.Type != "array" || s.Items.Schema == nil || len(s.Items.JSONSchemas) > 0),
		s.Type != "object" && (len(s.Properties) > 0 || s.AdditionalProperties != nil || s.XMapType != nil),
		len(s.Properties) > 0 && s.AdditionalProperties != nil,
		s.XPreserveUnknownFields != nil && (!*s.XPreserveUnknownFields || s.Type != "object" && s.Type != ""),
		s.XListType == nil && len(s.XListMapKeys) > 0, s.XListType != nil && s.Type != "array",
		s.Pattern != "" && !r.compiles(s.Pattern):
		return false
	}
	return plainKind(s) && (s.Default == nil || plainDefault(s))
}

// plainKind looks at what only one type has.
func plainKind(s *apiextensions.JSONSchemaProps) bool {
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

// intOrString is the one anyOf that x-kubernetes-int-or-string allows.
var intOrString = []apiextensions.JSONSchemaProps{{Type: "integer"}, {Type: "string"}}

func plainList(s *apiextensions.JSONSchemaProps) bool {
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

// plainDefault is true of a default that nothing but its type restricts, or that is
// a text of the enum.
func plainDefault(s *apiextensions.JSONSchemaProps) bool {
	switch value := (*s.Default).(type) {
	case string:
		free := s.Format == "" && s.Pattern == "" && s.MinLength == nil && s.MaxLength == nil
		return s.Type == "string" && free && (len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(one apiextensions.JSON) bool { return one == any(value) }))
	case bool:
		return s.Type == "boolean"
	case int64:
		within := (s.Minimum == nil || *s.Minimum <= float64(value)) && (s.Maximum == nil || float64(value) <= *s.Maximum)
		return s.Type == "integer" && s.MultipleOf == nil && !s.ExclusiveMinimum && !s.ExclusiveMaximum && within && value == int64(int32(value))
	}
	return false
}

func (r *reducer) compiles(pattern string) bool {
	ok, known := r.patterns[pattern]
	if !known {
		_, err := regexp.Compile(pattern)
		ok = err == nil
		r.patterns[pattern] = ok
	}
	return ok
}
