package smtlib

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// maxRune is the last character of SMT-LIB. The characters after lastRune represent
	// the characters that SMT-LIB lacks.
	maxRune  = 0x2FFFF
	lastRune = 0x2FF00
)

// Text returns a string as a literal of SMT-LIB.
func Text(s string) (string, error) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r > lastRune }) {
		return "", fmt.Errorf("text: %w", ErrNotExpressible)
	}
	return quoted([]rune(s)...), nil
}

func quoted(text ...rune) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"':
			b.WriteString(`""`)
		case r == '\\' || r < ' ' || r > '~':
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
