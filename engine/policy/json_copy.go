package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Limits of memory in bytes, as counted by a copier.
const (
	// maxMutated limits an object or patch. No server stores an object of that size.
	maxMutated = 16 << 20
	// maxMutatedTotal limits all objects that the mutations of a request make.
	maxMutatedTotal = 512 << 20
)

// A copier copies JSON values and limits the memory that they take.
type copier struct {
	total int // left for all copies
	left  int // left for the current copy
}

// nodeBytes is the size of a value in addition to its text.
const nodeBytes = 16

// copy returns a deep copy of v. If integers is set, numbers have the type that decoding their JSON returns.
// The error is an *undecidedError.
func (c *copier) copy(v any, integers bool) (any, error) {
	c.left = maxMutated
	out, err := c.value(v, integers)
	if err != nil {
		return nil, err
	}
	if c.total -= maxMutated - c.left; c.total < 0 {
		return nil, &undecidedError{"the policies make objects of too many bytes in total"}
	}
	return out, nil
}

func (c *copier) value(v any, integers bool) (any, error) {
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
		return c.list(v, integers)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			c.left -= len(name)
			copied, err := c.value(field, integers)
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
func (c *copier) list(list []any, integers bool) (any, error) {
	switch {
	case list == nil && integers:
		return nil, nil
	case list == nil:
		return list, nil
	}
	out := make([]any, len(list))
	for i, item := range list {
		copied, err := c.value(item, integers)
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
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for name, field := range a {
			if v, ok := other[name]; !ok || !sameJSON(field, v) {
				return false
			}
		}
		return true
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !sameJSON(a[i], other[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
