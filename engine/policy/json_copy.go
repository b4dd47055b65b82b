package policy

import (
	"fmt"
	"maps"
	"slices"
)

// maxMutated limits an object or patch in bytes, as counted by a copier. No server stores an object of that size.
const maxMutated = 16 << 20

// A copier copies a JSON value and limits the memory that it takes.
type copier struct{ left int }

// maxDepth is the number of levels that encoding/json decodes.
const maxDepth = 10_000

var (
	errTooDeep  = &undecidedError{fmt.Sprintf("the object would have over %d levels, which an API server cannot decode", maxDepth)}
	errTooLarge = &undecidedError{fmt.Sprintf("the object would have over %d MiB", maxMutated>>20)}
)

// nodeBytes is the size of a value in addition to its text.
const nodeBytes = 16

// copy returns a deep copy of an object. The error is an *undecidedError.
func (r *run) copy(object map[string]any) (map[string]any, error) {
	c := copier{left: maxMutated}
	out, err := c.value(object, maxDepth)
	if err == nil {
		err = r.spend(copyWork * uint64(maxMutated-c.left))
	}
	copied, _ := out.(map[string]any)
	return copied, err
}

// value copies a value with at most the given number of levels.
func (c *copier) value(v any, levels int) (any, error) {
	if c.left -= nodeBytes; c.left < 0 {
		return nil, errTooLarge
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, nil
	case string:
		c.left -= len(v)
		return v, nil
	case []any:
		if levels == 0 {
			return nil, errTooDeep
		}
		if v == nil {
			return v, nil
		}
		out := make([]any, len(v))
		for i, item := range v {
			copied, err := c.value(item, levels-1)
			if err != nil {
				return nil, err
			}
			out[i] = copied
		}
		return out, nil
	case map[string]any:
		if levels == 0 {
			return nil, errTooDeep
		}
		out := make(map[string]any, len(v))
		for name, field := range v {
			c.left -= len(name)
			copied, err := c.value(field, levels-1)
			if err != nil {
				return nil, err
			}
			out[name] = copied
		}
		return out, nil
	}
	return nil, &undecidedError{fmt.Sprintf("the patch has a value of type %T, on which an API server crashes", v)}
}

// sameJSON reports whether JSON values are equal. Empty lists and maps equal absent ones, like in the server.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	}
	return a == b
}
