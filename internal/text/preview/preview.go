// Package preview shortens large strings and values for display. Use package termwidth to measure
// their width on a terminal.
package preview

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// Bytes shortens text to at most n bytes of complete characters, followed by an ellipsis if it was
// shortened. Use it where bytes are limited, as in headers and logs.
func Bytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.ToValidUTF8(text[:n], "") + ellipsis
}

// JSON formats a decoded JSON value on one line with sorted keys, and omits the middle if it has more
// than n characters. It returns "?" for a value that JSON cannot represent.
func JSON(v any, n int) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "?"
	}
	return Middle(strings.TrimSuffix(b.String(), "\n"), n)
}

const gap = " … "

// Middle shortens a longer text to n characters by omitting its middle. If n is too small for more,
// only the gap remains.
func Middle(text string, n int) string {
	if beginning(text, n) == text {
		return text
	}
	return beginning(text, half(n)) + gap + lastRunes(text, half(n))
}

func half(n int) int { return max(0, n-utf8.RuneCountInString(gap)) / 2 }

func beginning(text string, n int) string {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return text[:i]
}

func lastRunes(text string, n int) string {
	i := len(text)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return text[i:]
}

// Body formats a request body without a kind as the API server does in its error message.
func Body(raw []byte) string {
	const shown = 30
	text, dots := raw, ""
	if len(raw) > shown {
		text, dots = raw[:shown], " ..."
	}
	switch {
	case len(raw) == 0:
		return "<empty>"
	case raw[0] == '{':
		return string(text) + dots
	}
	return hex.EncodeToString(text) + dots
}
