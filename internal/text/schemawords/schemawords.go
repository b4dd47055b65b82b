// Package schemawords describes the constraints of a schema in a few words.
package schemawords

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/preview"
)

// A Node is a schema decoded from a CRD, including its descriptions.
type Node map[string]any

// Child returns a child schema, or nil if it does not exist.
func (s Node) Child(name string) Node {
	v, _ := s[name].(map[string]any)
	return v
}

// Text returns a string field, or "" if it is not set.
func (s Node) Text(name string) string {
	v, _ := s[name].(string)
	return v
}

func (s Node) flag(name string) bool { return s[name] == true }

// Kind describes the type of a value: "string (date-time)", "list of object", "map of string".
func (s Node) Kind() string {
	kind := s.Text("type")
	switch {
	case s.flag("x-kubernetes-int-or-string"):
		return "integer or string"
	case kind == "array":
		word := "list"
		if s.Text("x-kubernetes-list-type") == "set" {
			word = "set"
		}
		return joined(" of ", word, s.Child("items").Kind())
	case kind == "object" && s["additionalProperties"] != nil:
		return joined(" of ", "map", s.Child("additionalProperties").Kind())
	case kind == "object":
		return kind
	}
	if format := s.Text("format"); format != "" {
		return fmt.Sprintf("%s (%s)", kind, format)
	}
	return kind
}

func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

var ranges = []struct{ least, most, noun string }{
	{"minLength", "maxLength", "character"},
	{"minItems", "maxItems", "item"},
	{"minProperties", "maxProperties", "field"},
	{"minimum", "maximum", ""},
}

// Describe describes the allowed values on one line.
func (s Node) Describe(required bool) string {
	var parts []string
	if kind := s.Kind(); kind != "object" || required {
		parts = append(parts, kind)
	}
	if required {
		parts = append(parts, "required")
	}
	parts = append(parts, s.Bounds())
	for _, below := range []string{"items", "additionalProperties"} {
		if part := s.Child(below); part != nil && part.Kind() != "object" {
			if each := part.Bounds(); each != "" {
				parts = append(parts, "each "+each)
			}
		}
	}
	if v, ok := s["default"]; ok {
		parts = append(parts, "default "+value(v))
	}
	return joined(", ", parts...)
}

// Bounds describes the constraints of the schema itself, without the constraints of its items.
func (s Node) Bounds() string {
	var parts []string
	if s.flag("nullable") {
		parts = append(parts, "may be null")
	}
	for _, r := range ranges {
		parts = append(parts, s.rangeWords(r.least, r.most, r.noun))
	}
	if step := s["multipleOf"]; step != nil {
		parts = append(parts, "a multiple of "+value(step))
	}
	if all, ok := s["enum"].([]any); ok {
		parts = append(parts, "one of "+choices(all))
	}
	if pattern := s.Text("pattern"); pattern != "" {
		parts = append(parts, "matching "+preview.Middle(pattern, maxValue))
	}
	return joined(", ", parts...)
}

// rangeWords describes a pair of bounds: "1 to 8 items", "at most 8 items".
func (s Node) rangeWords(minimum, maximum, noun string) string {
	from, low := s[minimum]
	to, high := s[maximum]
	if low && high && !s.flag("exclusiveMinimum") && !s.flag("exclusiveMaximum") {
		return quantity(value(from)+" to "+value(to), value(to), noun)
	}
	var parts []string
	for _, b := range []struct{ field, exclusive, word, strict string }{
		{minimum, "exclusiveMinimum", "at least ", "more than "}, {maximum, "exclusiveMaximum", "at most ", "less than "},
	} {
		if noun == "" && s.flag(b.exclusive) {
			b.word = b.strict
		}
		if v, ok := s[b.field]; ok {
			parts = append(parts, quantity(b.word+value(v), value(v), noun))
		}
	}
	return joined(", ", parts...)
}

func quantity(bound, last, noun string) string {
	switch {
	case noun == "":
		return bound
	case last == "1":
		return bound + " " + noun
	}
	return bound + " " + noun + "s"
}

const (
	// maxValue limits the length of a value, and maxChoices the total length of the values of an enum.
	maxValue   = 60
	maxChoices = 100
)

func value(v any) string { return preview.JSON(v, maxValue) }

func choices(all []any) string {
	var b strings.Builder
	for i, v := range all {
		text := value(v)
		if s, ok := v.(string); ok && s != "" {
			text = preview.Middle(s, maxValue)
		}
		if i > 0 && b.Len()+len(text) > maxChoices {
			return fmt.Sprintf("%s and %d more", &b, len(all)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}
