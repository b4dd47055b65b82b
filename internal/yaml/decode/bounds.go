package decode

import (
	"bytes"
	"errors"

	yaml2 "go.yaml.in/yaml/v2"
)

const (
	// maxValues exceeds the number of values in the largest object that a server accepts, and is
	// about the number in a List of 30 MiB of YAML. Each value takes up to 300 bytes of memory,
	// however short its text is.
	maxValues = 1 << 20
	// maxExpanded limits the size in bytes of a document after its aliases are expanded.
	maxExpanded = 32 << 20
)

var (
	errValues   = errors.New("more than 1048576 values: split the document")
	errExpanded = errors.New("more than 32 MiB when its aliases are expanded")
)

// Values returns an error if a YAML or JSON text has too many values. To be fast, it only counts
// the characters that can begin or separate values, including those in strings.
func Values(text []byte) error {
	if len(text) <= maxValues {
		return nil
	}
	n := 0
	for i, c := range text {
		switch c {
		case ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '"' {
				n++
			}
		}
	}
	if n > maxValues {
		return errValues
	}
	return nil
}

// expanded returns an error if a decoded document with aliases is too large. Decoded values share
// the targets of aliases, but anything derived from them does not.
func expanded(text []byte, decoded any) error {
	if bytes.IndexByte(text, '*') >= 0 && subtractSize(decoded, maxExpanded) < 0 {
		return errExpanded
	}
	return nil
}

// expandedAsLast is expanded for a document with duplicate keys. The strict decoder keeps the first
// value, but all others keep the last.
func expandedAsLast(text []byte) error {
	if bytes.IndexByte(text, '*') < 0 {
		return nil
	}
	var decoded any
	if err := yaml2.Unmarshal(text, &decoded); err != nil {
		return err
	}
	return expanded(text, decoded)
}

// subtractSize subtracts the approximate size of v as JSON from left, and returns a negative number if v
// does not fit.
func subtractSize(v any, left int) int {
	switch v := v.(type) {
	case string:
		return left - len(v) - 3
	case []any:
		for _, item := range v {
			if left = subtractSize(item, left); left < 0 {
				break
			}
		}
	case map[any]any:
		for key, item := range v {
			if left = subtractSize(item, subtractSize(key, left)); left < 0 {
				break
			}
		}
	}
	return left - 4
}
