package publish

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrapped breaks lines between words after at most limit runes, as kubectl does: it keeps spaces
// except at a break, and does not split a word that is longer than a line.
func wrapped(text string, limit int) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		wrapLine(&b, line, limit)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, limit int) {
	column := 0
	for line != "" {
		space, rest := cut(line, true)
		word, after := cut(rest, false)
		spaces, letters := utf8.RuneCountInString(space), utf8.RuneCountInString(word)
		switch {
		case word == "" && column+spaces > limit:
			return
		case word != "" && column+spaces+min(letters, limit-1) > limit:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteString(space)
			column += spaces
		}
		b.WriteString(word)
		column += letters
		line = after
	}
}

// cut splits off the leading spaces of a line, or its leading word. A no-break space is part of a word.
func cut(line string, space bool) (begin, rest string) {
	end := strings.IndexFunc(line, func(r rune) bool { return (unicode.IsSpace(r) && r != '\u00a0') != space })
	if end < 0 {
		end = len(line)
	}
	return line[:end], line[end:]
}

func indented(text string, by int) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}
