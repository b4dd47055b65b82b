package schema

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// An enum holds the allowed values by type. As in the API server, a value matches if Go can convert it to the type of
// an allowed value: 1.9 matches 1, and 65 matches "A".
type enum struct {
	values  []any // as in the schema
	strings map[string]struct{}
	ints    map[int64]struct{}
	floats  []float64
	yes, no bool
	others  []any // lists and objects; null never matches
}

func newEnum(values []apiextensionsv1.JSON) (*enum, error) {
	if len(values) == 0 {
		return nil, nil
	}
	e := &enum{strings: map[string]struct{}{}, ints: map[int64]struct{}{}}
	for i := range values {
		var v apiextensions.JSON
		if err := apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(&values[i], &v, nil); err != nil {
			return nil, fmt.Errorf("enum[%d]: %w", i, err)
		}
		e.values = append(e.values, v)
		switch v := v.(type) {
		case string:
			e.strings[v] = struct{}{}
		case int64:
			e.ints[v] = struct{}{}
		case float64:
			e.floats = append(e.floats, v)
		case bool:
			e.yes, e.no = e.yes || v, e.no || !v
		case []any, map[string]any:
			e.others = append(e.others, v)
		}
	}
	return e, nil
}

func (e *enum) has(v any, m *meter) bool {
	if e == nil {
		return true
	}
	switch v := v.(type) {
	case string:
		_, ok := e.strings[v]
		return ok
	case bool:
		return v && e.yes || !v && e.no
	case int64:
		return e.hasInt(v)
	case float64:
		_, ok := e.ints[int64(v)]
		return ok || e.hasFloat(v)
	case []any, map[string]any:
		m.spend(perNode * len(e.others))
		for _, other := range e.others {
			if Equal(v, other) {
				return true
			}
		}
	}
	return false
}

func (e *enum) hasInt(v int64) bool {
	if _, ok := e.ints[v]; ok || e.hasFloat(float64(v)) {
		return true
	}
	if len(e.strings) == 0 {
		return false
	}
	r := rune(-1) // not a character
	if int64(rune(v)) == v {
		r = rune(v)
	}
	_, ok := e.strings[string(r)]
	return ok
}

func (e *enum) hasFloat(v float64) bool {
	for _, f := range e.floats {
		if f == v {
			return true
		}
	}
	return false
}
