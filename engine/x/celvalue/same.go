package celvalue

import (
	"strings"

	"github.com/celadon-cel/celadon/types"
)

// Same reports whether a and b are equal under their declaration, that is, whether New(a,
// d).Equal(New(b, d)) is true. It handles only the simple cases: if it returns false, the values
// may still be equal.
//
// Same subtracts its work from left: perNode for each value, and 1 for each 8 bytes of a string. It
// returns false if it has to compare another value when left is negative.
func Same(a, b any, d *types.Decl, left *int) bool {
	if *left -= perNode; *left < 0 {
		return false
	}
	if a == nil || b == nil {
		return a == nil && b == nil && d.Nullable
	}
	switch d.Form() {
	case types.FormScalar:
		return sameScalar(a, b, d.Kind, left)
	case types.FormList:
		x, ok := a.([]any)
		y, okY := b.([]any)
		return ok && okY && sameList(x, y, d, left)
	case types.FormUnknown:
		return sameJSON(a, b, left)
	case types.FormObject, types.FormMap, types.FormEmpty:
		x, ok := a.(map[string]any)
		y, okY := b.(map[string]any)
		return ok && okY && len(x) == len(y) && sameFields(x, y, d, left)
	}
	return false
}

// perNode is the work to compare a value, not counting strings.
const perNode = 8

// sameScalar reports whether two scalars are equal if their kind accepts every value of the right
// JSON type. For other kinds, it returns false.
func sameScalar(a, b any, k types.Kind, left *int) bool {
	switch k {
	case types.String, types.IntOrString, types.Int, types.Bool:
	case types.Double:
		x, ok := asFloat(a)
		y, okY := asFloat(b)
		return ok && okY && x == y
	default:
		return false
	}
	switch a := a.(type) {
	case string:
		*left -= len(a) / 8
		b, ok := b.(string)
		return ok && a == b && (k == types.String || k == types.IntOrString)
	case int64:
		b, ok := b.(int64)
		return ok && a == b && (k == types.Int || k == types.IntOrString)
	case bool:
		b, ok := b.(bool)
		return ok && a == b && k == types.Bool
	}
	return false
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func sameFields(x, y map[string]any, d *types.Decl, left *int) bool {
	m := mapValue{fields: x, decl: d}
	for name, v := range x {
		other, ok := y[name]
		child := m.child(name)
		switch {
		case !ok:
			return false
		case child == nil:
			if !sameJSON(v, other, left) {
				return false
			}
		case d.Form() == types.FormObject && strings.Contains(name, "__"):
			return false // Find would unescape the name to another name
		case d.Form() == types.FormObject && v == nil && other == nil:
			if has(d, strictFields) {
				return false
			}
		case !Same(v, other, child, left):
			return false
		}
	}
	return true
}

func sameList(x, y []any, d *types.Decl, left *int) bool {
	if len(x) != len(y) {
		return false
	}
	if t := d.Schema.XListType; d.ListType == types.Atomic && t != nil && *t != "atomic" && *t != "" {
		return false
	}
	for i := range x {
		if !Same(x[i], y[i], d.Elem, left) {
			return false
		}
	}
	switch d.ListType {
	case types.Set:
		return d.Elem.Form() == types.FormScalar && (d.Elem.Kind != types.Double || !has(d, jsonSums)) // 1 and 1.0 differ there
	case types.MapList:
		*left -= perNode * len(x)
		return distinctKeys(x, d.MapKeys)
	}
	return true
}

// manyItems is the length above which distinctKeys does not compare all pairs of items.
const manyItems = 64

// distinctKeys reports whether all items of a map list have different keys. A list with duplicate
// keys does not equal itself. It returns false for lists that are too large or have unusual keys.
func distinctKeys(items []any, keys []string) bool {
	if len(items) > manyItems || len(keys) > 3 || !allPlainNames(keys) {
		return false
	}
	for i, item := range items {
		a, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, name := range keys {
			if _, ok := a[name].(string); !ok && a[name] != nil {
				return false
			}
		}
		for _, other := range items[:i] {
			if b, ok := other.(map[string]any); !ok || sameKeys(a, b, keys) {
				return false
			}
		}
	}
	return true
}

func sameKeys(a, b map[string]any, keys []string) bool {
	for _, name := range keys {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

func allPlainNames(names []string) bool {
	for _, name := range names {
		if ident, ok := types.Escape(name); !ok || ident != name {
			return false
		}
	}
	return true
}

// sameJSON is Same for values without a declaration.
func sameJSON(a, b any, left *int) bool {
	if *left -= perNode; *left < 0 {
		return false
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if other, ok := b[name]; !ok || !sameJSON(v, other, left) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameJSON(a[i], b[i], left) {
				return false
			}
		}
		return true
	case string:
		*left -= len(a) / 8
		return any(a) == b
	case int64, float64, bool, nil:
		return a == b
	}
	return false
}
