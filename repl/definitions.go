package repl

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

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
		text := termwidth.Fold(strings.Repeat(" ", column)+row[1], width, 0)
		b.WriteString(head + text[column:] + "\n")
	}
	return b.String()
}
