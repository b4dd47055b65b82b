package mutation

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	opBound    = "bound removed"
	opRequired = "required"
	opEnum     = "enum"
)

type loosening struct {
	operator string
	was, is  string // such as "maxItems: 3"; "" if removed
	edit     func(*schemaProps)
}

const maxValues = 20

func loosenings(s *schemaProps) (all []loosening) {
	bound(&all, "maxItems", s.MaxItems, func(s *schemaProps) { s.MaxItems = nil })
	bound(&all, "minItems", s.MinItems, func(s *schemaProps) { s.MinItems = nil })
	bound(&all, "maxLength", s.MaxLength, func(s *schemaProps) { s.MaxLength = nil })
	bound(&all, "minLength", s.MinLength, func(s *schemaProps) { s.MinLength = nil })
	bound(&all, "maxProperties", s.MaxProperties, func(s *schemaProps) { s.MaxProperties = nil })
	bound(&all, "minProperties", s.MinProperties, func(s *schemaProps) { s.MinProperties = nil })
	bound(&all, "maximum", s.Maximum, func(s *schemaProps) { s.Maximum, s.ExclusiveMaximum = nil, false })
	bound(&all, "minimum", s.Minimum, func(s *schemaProps) { s.Minimum, s.ExclusiveMinimum = nil, false })
	if s.Pattern != "" {
		bound(&all, "pattern", &s.Pattern, func(s *schemaProps) { s.Pattern = "" })
	}
	for _, name := range s.Required {
		all = append(all, loosening{opRequired, "required: " + name, "", func(s *schemaProps) {
			s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(other string) bool { return other == name })
		}})
	}
	return append(all, enumChanges(s.Enum)...)
}

func bound[T any](all *[]loosening, name string, value *T, edit func(*schemaProps)) {
	if value != nil {
		*all = append(*all, loosening{opBound, fmt.Sprintf("%s: %v", name, *value), "", edit})
	}
}

func enumChanges(enum []apiextensionsv1.JSON) (all []loosening) {
	if len(enum) == 0 {
		return nil
	}
	was := "enum: " + values(enum)
	all = append(all, loosening{opEnum, was, "", func(s *schemaProps) { s.Enum = nil }})
	for i := range enum {
		if i == maxValues || len(enum) == 1 {
			break
		}
		left := slices.Delete(slices.Clone(enum), i, i+1)
		all = append(all, loosening{opEnum, was, "enum: " + values(left), func(s *schemaProps) { s.Enum = left }})
	}
	return all
}

func values(enum []apiextensionsv1.JSON) string {
	raw := make([]json.RawMessage, len(enum))
	for i, v := range enum {
		raw[i] = v.Raw
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return fmt.Sprint(len(enum), " values")
	}
	return string(text)
}
