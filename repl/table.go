package repl

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/trace/record"
)

const maxValue = 72

// minLastColumn is the minimum width of a table's last column. If the screen has less room, the column
// is printed on separate lines.
const minLastColumn = 24

// table arranges rows in columns by display width. The last column is cut at width. A width of 0
// means unlimited.
func table(rows [][]string, width int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 {
				widths[i] = max(widths[i], termwidth.Width(cell))
			}
		}
	}
	before := 0
	for _, w := range widths[:max(0, len(widths)-1)] {
		before += w + 2
	}
	narrow := width > 0 && width-before < minLastColumn && len(widths) > 1
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if last := i == len(row)-1; last && narrow && i > 0 {
				if strings.TrimSpace(line.String()) != "" {
					writeLine(&b, line.String(), width)
				}
				line.Reset()
				line.WriteString("    " + cell)
			} else if line.WriteString(cell); !last {
				line.WriteString(strings.Repeat(" ", widths[i]-termwidth.Width(cell)+2))
			}
		}
		if strings.TrimSpace(line.String()) != "" || !narrow {
			writeLine(&b, line.String(), width)
		}
	}
	return b.String()
}

func writeLine(b *strings.Builder, line string, width int) {
	b.WriteString(cutLine(strings.TrimRight(line, " "), width) + "\n")
}

func cutLine(line string, width int) string {
	if width <= 0 || termwidth.Width(line) <= width {
		return line
	}
	return termwidth.Cut(line, width)
}

// If space is short, whyText cuts values before their notes.
func whyText(parts []record.Part, width int) string {
	var texts []string
	widest := 0
	for _, p := range parts {
		text := "  " + strings.Repeat("  ", p.Depth) + termwidth.Cut(p.Text, maxValue)
		texts = append(texts, text)
		widest = max(widest, termwidth.Width(text))
	}
	var rows [][]string
	for i, p := range parts {
		note := strings.Join(slices.DeleteFunc([]string{termwidth.Cut(p.At, maxValue/2), p.Note}, func(s string) bool { return s == "" }), ", ")
		if note != "" {
			note = "  (" + note + ")"
		}
		available := maxValue
		if width > 0 {
			available = min(available, max(minLastColumn/2, width-widest-2-termwidth.Width(note)))
		}
		rows = append(rows, []string{texts[i], termwidth.Cut(printable(format(p.Value)), available) + note})
	}
	return table(rows, width)
}

// printable replaces tabs by spaces and escapes characters that could control a terminal.
func printable(text string) string {
	return string(untrusted.Text(strings.ReplaceAll(text, "\t", " ")))
}
