package vet

import (
	"unicode/utf8"

	"github.com/celadon-cel/celadon/engine"
)

// The minimum respects lower bounds, and defaults at the path, which must fit, or the server would reject the CRD.
// boundAt does not set the keyword and the sizes. It returns nil for paths that the schema does not declare.
func (u *unit) boundAt(steps []engine.Step) *bound {
	s, path := u.root, u.schemaPath()
	var values []any
	for i := 0; ; i++ {
		if s.Default != nil {
			values = append(values, *s.Default)
		}
		if i == len(steps) {
			break
		}
		step := steps[i]
		values = valuesBelow(values, step)
		switch {
		case step.Any && s.Items != nil && s.Items.Schema != nil:
			s, path = s.Items.Schema, path.Child("items")
		case step.Any && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s, path = s.AdditionalProperties.Schema, path.Child("additionalProperties")
		default:
			prop, ok := s.Properties[step.Name]
			if !ok || step.Any {
				return nil
			}
			s, path = &prop, path.Child("properties").Key(step.Name)
		}
	}
	b := &bound{path: engine.FormatPath(steps), field: path.String(), props: s, minimum: 1}
	for _, v := range values {
		b.minimum = max(b.minimum, sizeOf(v))
	}
	for _, lower := range []*int64{s.MinLength, s.MinItems, s.MinProperties} {
		if lower != nil {
			b.minimum = max(b.minimum, *lower)
		}
	}
	return b
}

func valuesBelow(values []any, step engine.Step) (out []any) {
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			out = append(out, v...)
		case map[string]any:
			if !step.Any {
				if member, ok := v[step.Name]; ok {
					out = append(out, member)
				}
				continue
			}
			for _, member := range v {
				out = append(out, member)
			}
		}
	}
	return out
}

// maxLength, maxItems, and maxProperties count sizes like this.
func sizeOf(v any) int64 {
	switch v := v.(type) {
	case string:
		return int64(utf8.RuneCountInString(v))
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	}
	return 0
}
