package preview

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSON formats a decoded JSON value on one line with sorted keys, and omits the middle if it has
// more than n characters. For large values, it visits only the parts that are shown, and the keys
// of the maps that contain them.
func JSON(v any, n int) string {
	if whole := written(v, n+1, false); utf8.RuneCountInString(whole) <= n {
		return whole
	}
	return written(v, half(n), false) + gap + written(v, half(n), true)
}

// written returns the first n characters of a value's JSON, or the last n if back is set.
func written(v any, n int, back bool) string {
	w := writer{left: n, back: back}
	w.value(v)
	if back {
		slices.Reverse(w.pieces)
	}
	return strings.Join(w.pieces, "")
}

// A writer writes JSON forward from its beginning, or backward from its end.
type writer struct {
	back   bool
	left   int // number of characters left
	pieces []string
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case []any:
		w.group("[", "]", len(v), func(i int) { w.value(v[i]) })
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		w.group("{", "}", len(keys), func(i int) {
			w.inOrder(func() { w.text(keys[i]) }, func() { w.piece(":") }, func() { w.value(v[keys[i]]) })
		})
	default:
		w.piece(encoded(v))
	}
}

// group writes an object or array.
func (w *writer) group(left, right string, n int, member func(int)) {
	w.inOrder(func() { w.piece(left) }, func() {
		for i := range n {
			if i > 0 {
				w.piece(",")
			}
			if w.left <= 0 {
				return
			}
			if w.back {
				i = n - 1 - i
			}
			member(i)
		}
	}, func() { w.piece(right) })
}

func (w *writer) inOrder(parts ...func()) {
	if w.back {
		slices.Reverse(parts)
	}
	for _, part := range parts {
		if w.left > 0 {
			part()
		}
	}
}

// text writes a string. Each character of the string takes at least one character of JSON, so at
// most room characters are encoded.
func (w *writer) text(s string) {
	const quotes = 2
	if w.back {
		w.piece(encoded(lastRunes(s, w.left+quotes)))
	} else {
		w.piece(encoded(beginning(s, w.left+quotes)))
	}
}

func (w *writer) piece(s string) {
	if w.back {
		s = lastRunes(s, w.left)
	} else {
		s = beginning(s, w.left)
	}
	w.left -= utf8.RuneCountInString(s)
	w.pieces = append(w.pieces, s)
}

// encoded encodes a scalar as JSON without escaping <, >, and &.
func encoded(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
