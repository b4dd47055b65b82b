package find

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/preview"
)

// schemaNode is a schema as it stands in the CRD, texts and all; whatever is not
// as it must be is passed over.
type schemaNode map[string]any

func (s schemaNode) child(name string) schemaNode {
	v, _ := s[name].(map[string]any)
	return v
}

func (s schemaNode) text(name string) string {
	v, _ := s[name].(string)
	return v
}

func (s schemaNode) flag(name string) bool { return s[name] == true }

// kind is what a value is: "string (date-time)", "list of object", "map of
// string".
func (s schemaNode) kind() string {
	kind := s.text("type")
	switch {
	case s.flag("x-kubernetes-int-or-string"):
		return "integer or string"
	case kind == "array":
		word := "list"
		if s.text("x-kubernetes-list-type") == "set" {
			word = "set"
		}
		return joined(" of ", word, s.child("items").kind())
	case kind == "object" && s["additionalProperties"] != nil:
		return joined(" of ", "map", s.child("additionalProperties").kind())
	case kind == "object":
		return kind
	}
	if format := s.text("format"); format != "" {
		return fmt.Sprintf("%s (%s)", kind, format)
	}
	return kind
}

func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// ranges are the pairs of bounds, and what they count.
var ranges = []struct{ least, most, noun string }{
	{"minLength", "maxLength", "character"},
	{"minItems", "maxItems", "item"},
	{"minProperties", "maxProperties", "field"},
	{"minimum", "maximum", ""},
}

// says is what a value may be, in one line.
func (s schemaNode) says(required bool) string {
	var parts []string
	if kind := s.kind(); kind != "object" || required {
		parts = append(parts, kind)
	}
	if required {
		parts = append(parts, "required")
	}
	parts = append(parts, s.bounds())
	if items := s.child("items"); items != nil && items.kind() != "object" {
		if each := items.bounds(); each != "" {
			parts = append(parts, "each "+each)
		}
	}
	if v, ok := s["default"]; ok {
		parts = append(parts, "default "+value(v))
	}
	return joined(", ", parts...)
}

// bounds are those that the schema itself sets.
func (s schemaNode) bounds() string {
	var parts []string
	if s.flag("nullable") {
		parts = append(parts, "may be null")
	}
	for _, r := range ranges {
		parts = append(parts, s.between(r.least, r.most, r.noun))
	}
	if step := s["multipleOf"]; step != nil {
		parts = append(parts, "a multiple of "+value(step))
	}
	if all, ok := s["enum"].([]any); ok {
		parts = append(parts, "one of "+choices(all))
	}
	if pattern := s.text("pattern"); pattern != "" {
		parts = append(parts, "like "+preview.Middle(pattern, maxValue))
	}
	return joined(", ", parts...)
}

// between is a pair of bounds: "1 to 8 items", "at most 8 items".
func (s schemaNode) between(least, most, noun string) string {
	from, low := s[least]
	to, high := s[most]
	if low && high && !s.flag("exclusiveMinimum") && !s.flag("exclusiveMaximum") {
		return quantity(value(from)+" to "+value(to), value(to), noun)
	}
	var parts []string
	if low {
		word := "at least "
		if least == "minimum" && s.flag("exclusiveMinimum") {
			word = "more than "
		}
		parts = append(parts, quantity(word+value(from), value(from), noun))
	}
	if high {
		word := "at most "
		if most == "maximum" && s.flag("exclusiveMaximum") {
			word = "less than "
		}
		parts = append(parts, quantity(word+value(to), value(to), noun))
	}
	return joined(", ", parts...)
}

// quantity is a bound with what it counts, if it counts something.
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
	// maxValue is how long a value may be that is shown, maxChoices how long all
	// values of an enum together.
	maxValue   = 60
	maxChoices = 100
)

func value(v any) string { return preview.JSON(v, maxValue) }

// choices are the values of an enum, as far as they fit.
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
