package main

import (
	"regexp"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// patternCalls appends the checks of patterns and formats that a schema requires for a value.
func patternCalls(s *schema.Structural, value any, calls []func()) []func() {
	if s == nil {
		return calls
	}
	calls = checks(s.ValueValidation, value, calls)
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			calls = patternCalls(s.Items, item, calls)
		}
	case map[string]any:
		for name, v := range value {
			if prop, ok := s.Properties[name]; ok {
				calls = patternCalls(&prop, v, calls)
			} else if s.AdditionalProperties != nil {
				calls = patternCalls(s.AdditionalProperties.Structural, v, calls)
			}
		}
	}
	return calls
}

func checks(c *schema.ValueValidation, value any, calls []func()) []func() {
	if c == nil {
		return calls
	}
	if text, ok := value.(string); ok {
		if re, err := regexp.Compile(c.Pattern); err == nil && c.Pattern != "" {
			calls = append(calls, func() { re.MatchString(text) })
		}
		if c.Format != "" && strfmt.Default.ContainsName(c.Format) {
			calls = append(calls, func() { strfmt.Default.Validates(c.Format, text) })
		}
	}
	for _, branches := range [][]schema.NestedValueValidation{c.AllOf, c.AnyOf, c.OneOf} {
		for i := range branches {
			calls = branch(&branches[i], value, calls)
		}
	}
	return branch(c.Not, value, calls)
}

func branch(n *schema.NestedValueValidation, value any, calls []func()) []func() {
	if n == nil {
		return calls
	}
	calls = checks(&n.ValueValidation, value, calls)
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			calls = branch(n.Items, item, calls)
		}
	case map[string]any:
		for name, v := range value {
			if prop, ok := n.Properties[name]; ok {
				calls = branch(&prop, v, calls)
			}
		}
	}
	return calls
}
