package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// maxMutated limits an object or patch in bytes, as counted by a copier. No server stores an object of that size.
const maxMutated = 16 << 20

// A copier copies a JSON value and limits the memory that it takes.
type copier struct{ left int }

var errTooDeep = &undecidedError{fmt.Sprintf("the object would have over %d levels, which an API server cannot decode", maxDepth)}

// nodeBytes is the size of a value in addition to its text.
const nodeBytes = 16

// copy returns a deep copy of v. If integers is set, numbers have the type that decoding their JSON returns.
// The error is an *undecidedError.
func (r *run) copy(v any, integers bool) (any, error) {
	c := copier{left: maxMutated}
	out, err := c.value(v, integers, maxDepth)
	if err == nil {
		err = r.spend(copyWork * uint64(maxMutated-c.left))
	}
	return out, err
}

// value copies a value with at most the given number of levels.
func (c *copier) value(v any, integers bool, levels int) (any, error) {
	if c.left -= nodeBytes; c.left < 0 {
		return nil, &undecidedError{fmt.Sprintf("the object would have over %d MiB", maxMutated>>20)}
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return v, nil
	case string:
		c.left -= len(v)
		return v, nil
	case float64:
		if integers {
			return decodedNumber(v), nil
		}
		return v, nil
	case []any:
		return c.list(v, integers, levels)
	case map[string]any:
		if levels == 0 {
			return nil, errTooDeep
		}
		out := make(map[string]any, len(v))
		for name, field := range v {
			c.left -= len(name)
			copied, err := c.value(field, integers, levels-1)
			if err != nil {
				return nil, err
			}
			out[name] = copied
		}
		return out, nil
	}
	return nil, &undecidedError{fmt.Sprintf("the patch has a value of type %T, on which an API server crashes", v)}
}

// list copies a list. A nil list is null in JSON.
func (c *copier) list(list []any, integers bool, levels int) (any, error) {
	switch {
	case levels == 0:
		return nil, errTooDeep
	case list == nil && integers:
		return nil, nil
	case list == nil:
		return list, nil
	}
	out := make([]any, len(list))
	for i, item := range list {
		copied, err := c.value(item, integers, levels-1)
		if err != nil {
			return nil, err
		}
		out[i] = copied
	}
	return out, nil
}

// decodedNumber returns the number that decoding the JSON of f returns.
func decodedNumber(f float64) any {
	data, err := json.Marshal(f)
	if err != nil {
		return f
	}
	if i, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		return i
	}
	return f
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
