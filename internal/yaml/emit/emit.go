// Package emit formats values as YAML. All commands use it, so that an object looks the same everywhere and
// its size is bounded.
package emit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// How it works: the library puts each value on a line of its own, indented by its level. The indentation of an object
// with thousands of levels takes a thousand times the space of the object. Values below some level are therefore
// formatted in flow style, on one line. The library formats the rest, with a placeholder for each of them.

const (
	// maxBlock is the number of levels in block style. Kubernetes objects have fewer.
	maxBlock = 100
	// The indentation can take freeIndent bytes, and indentShare times the size of the value. Otherwise, fewer levels
	// are in block style.
	freeIndent  = 1 << 20
	indentShare = 4
)

// YAML formats v like sigs.k8s.io/yaml, but deep values of type map[string]any or []any in flow style. Like the library, it
// returns an error for control characters and for keys of more than 1,000 characters, unless v is deep.
func YAML(v any) ([]byte, error) {
	block := blockLevels(v)
	if block > maxBlock {
		return yaml.Marshal(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	c := cutter{placeholder: fmt.Sprintf("x%x_", sha256.Sum256(data))} // v cannot contain its own hash
	text, err := yaml.Marshal(c.cut(v, block))
	if err != nil { // the library does not support all characters and keys
		return Flow(v)
	}
	return c.restore(text)
}

// IsDeep reports whether a part of v is in flow style.
func IsDeep(v any) bool { return blockLevels(v) <= maxBlock }

// blockLevels returns the number of levels that are in block style, or more than maxBlock if all are.
func blockLevels(v any) int {
	var s shape
	s.measure(v, 0)
	indent := 0
	for level, n := range s.values {
		if indent += 2 * level * n; indent > freeIndent+indentShare*s.size {
			return level - 1 // the values of this level are then in lists and objects in flow style
		}
	}
	if s.deeper {
		return maxBlock
	}
	return maxBlock + 1
}

// A shape holds the approximate size of a value as JSON, and the number of values at each level.
type shape struct {
	size   int
	values [maxBlock + 1]int
	deeper bool // there are more levels
}

func (s *shape) measure(v any, level int) {
	s.size += len("1,")
	if level > maxBlock {
		s.deeper = true
	} else {
		s.values[level]++
	}
	switch v := v.(type) {
	case string:
		s.size += len(v)
	case map[string]any:
		for key, item := range v {
			s.size += len(key) + len(`"":`)
			s.measure(item, level+1)
		}
	case []any:
		for _, item := range v {
			s.measure(item, level+1)
		}
	}
}

// A cutter replaces deep values by placeholders.
type cutter struct {
	placeholder string // with the index of the value, and then an underscore
	deep        []any
}

// cut returns v with placeholders for the objects and lists below the given number of levels.
func (c *cutter) cut(v any, levels int) any {
	switch v := v.(type) {
	case map[string]any:
		if levels <= 0 && len(v) > 0 {
			return c.replace(v)
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = c.cut(item, levels-1)
		}
		return out
	case []any:
		if levels <= 0 && len(v) > 0 {
			return c.replace(v)
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = c.cut(item, levels-1)
		}
		return out
	}
	return v
}

func (c *cutter) replace(v any) string {
	c.deep = append(c.deep, v)
	return fmt.Sprintf("%s%d_", c.placeholder, len(c.deep)-1)
}

// restore replaces placeholders by their values in flow style.
func (c *cutter) restore(text []byte) ([]byte, error) {
	var out []byte
	for {
		before, after, found := bytes.Cut(text, []byte(c.placeholder))
		if out = append(out, before...); !found {
			return out, nil
		}
		digits, rest, _ := bytes.Cut(after, []byte("_"))
		i, err := strconv.Atoi(string(digits))
		if err != nil {
			return nil, err
		}
		if out, err = appendFlow(out, c.deep[i]); err != nil {
			return nil, err
		}
		text = rest
	}
}

// Flow formats v as YAML in flow style, on one line. All strings are in double quotes.
func Flow(v any) ([]byte, error) {
	out, err := appendFlow(nil, v)
	return append(out, '\n'), err
}

// maxImplicit is less than the length of the longest key that YAML permits without a question mark.
const maxImplicit = 100

func appendFlow(out []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ", "...)
			}
			if len(key) > maxImplicit {
				out = append(out, "? "...)
			}
			if out, err = appendScalar(out, key); err != nil {
				return nil, err
			}
			if out, err = appendFlow(append(out, ": "...), v[key]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ", "...)
			}
			if out, err = appendFlow(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	return appendScalar(out, v)
}

// appendScalar appends a scalar as JSON that is also YAML.
func appendScalar(out []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff { // JSON allows them
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, string(r)...)
		}
	}
	return out, nil
}
