package schema

import "reflect"

// Equal is reflect.DeepEqual for decoded JSON, so it distinguishes int64 from float64, and nil from empty maps and
// lists.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case nil, bool, string, int64, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	if len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	if reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
		return true
	}
	for name, v := range a {
		other, ok := b[name]
		if !ok || !Equal(v, other) {
			return false
		}
	}
	return true
}
