package print

import (
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// paint colors text on a terminal, line by line.
func (p *textPrinter) paint(c untrusted.Color, text untrusted.Safe) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		body := strings.TrimSuffix(line, "\n")
		b.WriteString(string(p.w.Paint(c, untrusted.Safe(body))) + line[len(body):])
	}
	return b.String()
}

var painted = regexp.MustCompile("\x1b\\[[0-9]*m")

// wrapText wraps lines that are wider than the terminal between words, with continuation lines indented
// by two more. Excerpts already fit.
func (p *textPrinter) wrapText(text string) string {
	if p.Width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		left := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+2)
		columns := 0
		for i, word := range strings.Split(line, " ") {
			width := termwidth.Width(painted.ReplaceAllString(strings.TrimSuffix(word, "\n"), ""))
			switch {
			case i == 0:
			case columns > len(left) && columns+1+width > p.Width:
				b.WriteString("\n" + left)
				columns = len(left)
			default:
				b.WriteByte(' ')
				columns++
			}
			b.WriteString(word)
			columns += width
		}
	}
	return b.String()
}
