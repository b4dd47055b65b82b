// Package preview shows of large texts and values as much as is good to read.
// How wide a text stands on a terminal is internal/text/termwidth's.
package preview

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// Bytes is the beginning of a text: at most n bytes of whole characters, and an
// ellipsis behind them where that is not all. It is for what limits bytes, such
// as headers and logs.
func Bytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.ToValidUTF8(text[:n], "") + ellipsis
}

// gap stands for the middle of what is left out.
const gap = " … "

// Middle leaves out the middle of a text of more than n characters.
func Middle(text string, n int) string {
	if beginning(text, n) == text {
		return text
	}
	return beginning(text, half(n)) + gap + lastRunes(text, half(n))
}

// half is how much of n characters stands before the gap, and behind it.
func half(n int) int { return max(0, n-utf8.RuneCountInString(gap)) / 2 }

// beginning and end are n characters of a text, or all that it has.
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

// Body is a body without a kind, in the words of the API server.
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
