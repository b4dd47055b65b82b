// Package untrusted makes untrusted text safe to print: names, keys, values, messages, and rules from files, and
// library errors that quote them. Such text can contain terminal control sequences, characters that hide or reorder
// the surrounding text, lines that imitate Celadon's output, or commands to a CI system that reads the log.
//
// There are two layers of protection. All reports and standard error are written through a [Writer], which passes
// only text, line breaks, and Celadon's own colors. A Writer cannot distinguish untrusted line breaks from Celadon's,
// so text inside a line must be escaped with [Line], or with [Sprintf] and [Fprintf], which escape all arguments.
//
// Characters are escaped as in Go and JSON: \n, \x1b, \u202e. Text without such characters is unchanged.
package untrusted

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe is text that is safe to print: Celadon's own, or already escaped.
type Safe string

// Line escapes text so that it stays on a single line.
func Line(text string) Safe { return Lines(text) }

// Lines escapes text, but keeps a line break if the next line starts with a string in begin.
// Untrusted lines that start with such a string must be harmless.
func Lines(text string, begin ...string) Safe {
	if strings.IndexFunc(text, replaced) < 0 {
		return Safe(text)
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
	return Safe(b)
}

// Text escapes text like a Writer, which keeps all line breaks.
func Text(text string) Safe {
	b, rest := newState().append(nil, []byte(text))
	for _, c := range rest {
		b = appendByte(b, c)
	}
	return Safe(b)
}

// replaced reports whether r must be escaped within a line: control and format characters (such as
// changes of direction), invisible characters, line and paragraph separators, and noncharacters.
// U+FFFD may result from decoding bytes that are not UTF-8.
func replaced(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return r <= 0x9f || r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point)
}

const hex = "0123456789abcdef"

func appendByte(b []byte, c byte) []byte { return append(b, '\\', 'x', hex[c>>4], hex[c&15]) }

// appendRune escapes a character. Characters that can occur unescaped in JSON are escaped as in
// JSON, so that a JSON document keeps its meaning.
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
