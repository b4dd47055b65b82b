package vet

import (
	"unicode/utf8"

	"github.com/celadon-cel/celadon/engine"
)

// minimumBound returns the smallest bound that can be set at a path. Defaults at the path must fit, or the
// server rejects the CRD; and the bound must not be less than the lower bound.
func (u *unit) minimumBound(steps []engine.Step) int64 {
	s := u.root
	var values []any
	for i := 0; ; i++ {
		if s.Default != nil {
			values = append(values, *s.Default)
		}
		if i == len(steps) {
			break
		}
		values = valuesBelow(values, steps[i])
		if _, s = u.find(steps[:i+1]); s == nil {
			return 1
		}
	}
	size := int64(1)
	for _, v := range values {
		size = max(size, sizeOf(v))
	}
	for _, lower := range []*int64{s.MinLength, s.MinItems, s.MinProperties} {
		if lower != nil {
			size = max(size, *lower)
		}
	}
	return size
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

// sizeOf returns a value's size as maxLength, maxItems, and maxProperties count it.
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
