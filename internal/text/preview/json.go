package preview

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSON is a decoded JSON value on one line, map keys sorted; where that has more
// than n characters its middle is left out. Of a large value it looks at no more
// than what is shown, and at the keys of the maps on the way there.
func JSON(v any, n int) string {
	if whole := written(v, n+1, false); utf8.RuneCountInString(whole) <= n {
		return whole
	}
	return written(v, half(n), false) + gap + written(v, half(n), true)
}

// written is the beginning of a value's JSON, or its end: n characters of it, or
// all that it has.
func written(v any, n int, back bool) string {
	w := writer{room: n, back: back}
	w.value(v)
	if back {
		slices.Reverse(w.pieces)
	}
	return strings.Join(w.pieces, "")
}

// writer writes JSON from its beginning, or, going back, from its end.
type writer struct {
	back   bool
	room   int // characters to go
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

// group writes what stands between brackets.
func (w *writer) group(left, right string, n int, member func(int)) {
	w.inOrder(func() { w.piece(left) }, func() {
		for i := range n {
			if i > 0 {
				w.piece(",")
			}
			if w.room <= 0 {
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
		if w.room > 0 {
			part()
		}
	}
}

// text writes a string. A character of it takes at least one of JSON: of a long
// one, as many as there is room for are enough.
func (w *writer) text(s string) {
	const quotes = 2
	if w.back {
		w.piece(encoded(lastRunes(s, w.room+quotes)))
	} else {
		w.piece(encoded(beginning(s, w.room+quotes)))
	}
}

func (w *writer) piece(s string) {
	if w.back {
		s = lastRunes(s, w.room)
	} else {
		s = beginning(s, w.room)
	}
	w.room -= utf8.RuneCountInString(s)
	w.pieces = append(w.pieces, s)
}

// encoded is a scalar as JSON, with <, > and & as they are.
func encoded(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
