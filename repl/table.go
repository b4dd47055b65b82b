package repl

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/trace"
)

// maxValue bounds the columns that one value may take in a list of values.
const maxValue = 72

// table arranges rows in columns, as wide as their cells are on a screen. The
// last column is cut where the screen ends; width 0 is no end.
func table(rows [][]string, width int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 {
				widths[i] = max(widths[i], screen.StringWidth(cell))
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-screen.StringWidth(cell)+2))
			}
		}
		b.WriteString(fit(strings.TrimRight(line.String(), " "), width) + "\n")
	}
	return b.String()
}

// fit cuts a line at the end of the screen.
func fit(line string, width int) string {
	if width <= 0 || screen.StringWidth(line) <= width {
		return line
	}
	return screen.Truncate(line, width, "…")
}

// whyText is the values that decided, one a line.
func whyText(parts []trace.Part, width int) string {
	var rows [][]string
	for _, p := range parts {
		value := preview(printable(Format(p.Value)), maxValue)
		if notes := slices.DeleteFunc([]string{p.At, p.Note}, func(s string) bool { return s == "" }); len(notes) > 0 {
			value += "  (" + strings.Join(notes, ", ") + ")"
		}
		rows = append(rows, []string{"  " + strings.Repeat("  ", p.Depth) + preview(p.Text, maxValue), value})
	}
	return table(rows, width)
}
