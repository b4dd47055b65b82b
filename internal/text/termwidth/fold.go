package termwidth

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

var colorForm = lazy.New("\x1b\\[[0-9]*m")

const endColor = "\x1b[0m"

// Fold breaks the lines of text like FoldLine. It indents further lines like the first, and by hang more columns. A
// width of 0 is unlimited.
func Fold(text string, width, hang int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		b.WriteString(FoldLine(body, width, len(line)-len(strings.TrimLeft(line, " "))+hang))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// FoldLine breaks a line that is wider than width between words, and indents further lines, by at
// most half the width. A color ends before a line break and begins again after it. A word that is
// wider than width is not broken: it begins a line, unless the text before it is at most as wide as
// the indentation.
func FoldLine(line string, width, indent int) string {
	if Width(line) <= width {
		return line
	}
	indent = min(indent, width/2)
	var b strings.Builder
	columns, color, isBlank := -1, "", true
	for word := range strings.SplitSeq(line, " ") {
		w := Width(word)
		switch {
		case columns < 0:
			columns = 0
		case w > 0 && !isBlank && columns > indent && columns+1+w > width:
			if color != "" {
				b.WriteString(endColor)
			}
			b.WriteString("\n" + strings.Repeat(" ", indent) + color)
			columns = indent
		default:
			b.WriteByte(' ')
			columns++
		}
		b.WriteString(word)
		columns += w
		isBlank = isBlank && w == 0
		if strings.Contains(word, "\x1b") {
			color = OpenColor(word)
		}
	}
	return b.String()
}

// OpenColor returns the color in which text ends, or "".
func OpenColor(text string) string {
	codes := colorForm.FindAllString(text, -1)
	if len(codes) == 0 || codes[len(codes)-1] == endColor {
		return ""
	}
	return codes[len(codes)-1]
}
