// Package emit formats values as YAML. Commands use it, so that an object looks the same everywhere and its
// size is bounded.
package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// How it works: the library puts each value on a line of its own, indented by its level. The indentation of an object
// with thousands of levels takes a thousand times the space of the object. Such an object is therefore formatted in
// flow style, on one line.

const (
	// maxBlock is the number of levels in block style.
	maxBlock = 100
	// The indentation can take freeIndent bytes, and indentShare times the size of the value.
	freeIndent  = 1 << 20
	indentShare = 4
)

// YAML formats v like sigs.k8s.io/yaml, but a deep value of type map[string]any or []any like Flow.
func YAML(v any) ([]byte, error) {
	if IsDeep(v) {
		return Flow(v)
	}
	return yaml.Marshal(v)
}

// IsDeep reports whether v has more than maxBlock levels, or its indentation would take too much space.
func IsDeep(v any) bool {
	var s shape
	s.measure(v, 0)
	indent := 0
	for level, n := range s.values {
		if indent += 2 * level * n; indent > freeIndent+indentShare*s.size {
			return true
		}
	}
	return s.deeper
}

// A shape holds the approximate size of a value as JSON, and the number of values at each level.
type shape struct {
	size   int
	values [maxBlock + 1]int
	deeper bool
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
