// Package untrusted shows text that others wrote: names, keys, values, messages
// and rules out of files, and the errors of libraries about them. Such text may
// hold what steers a terminal, hides or reorders what stands beside it, begins a
// line that looks like ours, or is a command to whoever reads the log.
//
// Two nets catch it. Every report and all of stderr pass through a [Writer],
// which lets nothing but text, line breaks and our own colours through. It
// cannot tell a foreign line break from one of ours, so what is put into a line
// goes through [Line], or through [Sprintf] and [Fprintf], which do that to all
// their arguments.
//
// What is replaced stands as Go and JSON escape it: \n, \x1b, \u202e. A text
// without such characters stays as it is.
package untrusted

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Own is text that may stand as it is: ours, or escaped already.
type Own string

// Line is the text within one line.
func Line(text string) Own { return Lines(text) }

// Lines is the text with those of its line breaks behind which a line begins in
// one of these ways; there must be no harm in a foreign line that does.
func Lines(text string, begin ...string) Own {
	if strings.IndexFunc(text, replaced) < 0 {
		return Own(text)
	}
	var b []byte
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		stays := func(begin string) bool { return strings.HasPrefix(text[i+1:], begin) }
		switch {
		case r == '\n' && slices.ContainsFunc(begin, stays):
			b = append(b, '\n')
		case r == utf8.RuneError && size == 1:
			b = appendByte(b, text[i])
		case replaced(r):
			b = appendRune(b, r)
		default:
			b = append(b, text[i:i+size]...)
		}
		i += size
	}
	return Own(b)
}

// Text is the text with all its line breaks, as a Writer lets it through.
func Text(text string) Own {
	b, rest := newState().append(nil, []byte(text))
	for _, c := range rest {
		b = appendByte(b, c)
	}
	return Own(b)
}

// replaced is true for what does not stand as it is within a line: controls,
// formats such as those of direction, what shows nothing, what ends a line or a
// paragraph, and what is no character. U+FFFD may be what is read for bytes that
// are not UTF-8.
func replaced(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return r <= 0x9f || r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point)
}

const hex = "0123456789abcdef"

func appendByte(b []byte, c byte) []byte { return append(b, '\\', 'x', hex[c>>4], hex[c&15]) }

// appendRune escapes a character. What may stand raw in JSON is escaped as JSON
// does, so that JSON stays the same document.
func appendRune(b []byte, r rune) []byte {
	switch {
	case r == utf8.RuneError:
		return utf8.AppendRune(b, r)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r < ' ':
		return appendByte(b, byte(r))
	case r > 0xffff:
		r -= 0x10000
		return appendRune(appendRune(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
