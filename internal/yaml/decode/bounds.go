package decode

import (
	"bytes"
	"errors"

	yaml2 "go.yaml.in/yaml/v2"
)

const (
	// maxValues is above what an object of the largest size that a server takes
	// can have, and about what a List of 30 MiB in YAML has. Each takes up to 300
	// bytes in memory, however short it is in the text.
	maxValues = 1 << 20
	// maxExpanded is how large a document may become where aliases repeat parts
	// of it.
	maxExpanded = 32 << 20
)

var (
	errValues   = errors.New("more than 1048576 values: want less, or several documents")
	errExpanded = errors.New("more than 32 MiB when its aliases are expanded: want less")
)

// Values says whether a text in YAML or JSON has too many values. It looks at
// what begins or parts them, so that it is quick, and counts a few too many.
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

// expanded says whether a decoded document is too large. In memory what aliases
// stand for is there once, but not in what is made of it.
func expanded(text []byte, decoded any) error {
	if bytes.IndexByte(text, '*') >= 0 && weigh(decoded, maxExpanded) < 0 {
		return errExpanded
	}
	return nil
}

// expandedAsLast is expanded for a document with duplicate keys, of which the
// strict decoder keeps the first value and all others the last.
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

// weigh takes about the bytes that a value has as JSON from what is left, and
// ends below zero.
func weigh(v any, left int) int {
	switch v := v.(type) {
	case string:
		return left - len(v) - 3
	case []any:
		for _, item := range v {
			if left = weigh(item, left); left < 0 {
				break
			}
		}
	case map[any]any:
		for key, item := range v {
			if left = weigh(item, weigh(key, left)); left < 0 {
				break
			}
		}
	}
	return left - 4
}
