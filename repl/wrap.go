package repl

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// minWrapped is the minimum number of columns of a wrapped line, without its indentation.
const minWrapped = 12

// wrap breaks the lines of text that are wider than width at spaces. Further lines are indented like the first,
// and by hang more columns. A word that is wider than the line stays whole. A width of 0 means unlimited.
func wrap(text string, width, hang int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		wrapLine(&b, line, width, hang)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width, hang int) {
	if termwidth.Width(line) <= width {
		b.WriteString(line)
		return
	}
	words := strings.TrimLeft(line, " ")
	indent := len(line) - len(words)
	at, limit := 0, 0
	for i, word := range strings.Split(words, " ") {
		w := termwidth.Width(word)
		switch {
		case i == 0:
			b.WriteString(strings.Repeat(" ", indent))
			at, limit = indent, max(width, indent+hang+minWrapped)
		case at+1+w > limit:
			b.WriteString("\n" + strings.Repeat(" ", indent+hang))
			at = indent + hang
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
}

// definitions formats pairs of a term and its description. Descriptions are wrapped in a column of
// their own, or below the term if the term is too wide or space is short.
func definitions(rows [][2]string, width int) string {
	if width <= 0 {
		var cells [][]string
		for _, row := range rows {
			cells = append(cells, row[:])
		}
		return table(cells, 0)
	}
	column := 0
	for _, row := range rows {
		if w := termwidth.Width(row[0]) + 2; w <= width/3 {
			column = max(column, w)
		}
	}
	if width-column < minLastColumn || column == 0 {
		column = 4
	}
	var b strings.Builder
	for _, row := range rows {
		w := termwidth.Width(row[0])
		head := row[0] + strings.Repeat(" ", max(column-w, 0))
		if w+2 > column {
			writeLine(&b, row[0], width)
			head = strings.Repeat(" ", column)
		}
		text := wrap(strings.Repeat(" ", column)+row[1], width, 0)
		b.WriteString(head + text[column:] + "\n")
	}
	return b.String()
}
