package finding

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/secret"
)

// Excerpt is a line of a file, perhaps shortened, with the index of a character in it.
type Excerpt struct {
	Line  string `json:"line"`
	Index int    `json:"index"`
}

const (
	lineWidth  = 100 // largest width in columns
	gutter     = 10  // columns around an excerpt in a report, for line numbers and ellipses
	valueWidth = 120 // in characters
	ellipsis   = "…"
)

// NewExcerpt shortens a long line around index, so that it fits a report of width columns. 0 is the default width,
// which is also the largest. Characters from index hide on are replaced. If index is beyond hide, or the rest
// still contains a secret, the excerpt is empty.
func NewExcerpt(line string, index, hide, width int, secrets secret.Texts) Excerpt {
	if width == 0 {
		width = gutter + lineWidth
	}
	width = min(max(2*gutter, width-gutter), lineWidth)
	if len(secrets) == 0 && hide >= len(line) {
		line, index = around(line, index, 2*width)
		hide = len(line)
	}
	runes := []rune(strings.Map(printable, line))
	if hide < len(runes) {
		if index > hide {
			return Excerpt{}
		}
		runes = append(runes[:hide:hide], []rune(secret.Hidden)...)
	}
	if secrets.In(string(runes)) {
		return Excerpt{}
	}
	return cut(runes, min(index, len(runes)), width)
}

// around returns the part of a line with n characters on each side of index, and the index in it. It does not copy a
// long line, because hundreds of findings can be on the only line of a file.
func around(line string, index, n int) (string, int) {
	i, from, to := 0, 0, len(line)
	for at := range line {
		if i == index-n {
			from = at
		}
		if i == index+n {
			to = at
			break
		}
		i++
	}
	if from > 0 {
		index = n
	}
	return line[from:to], index
}

// printable replaces unprintable characters, so that the caret is aligned with its character.
func printable(r rune) rune {
	if !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}

// cut keeps width columns of the line, a quarter of them before the character at index, or more if
// the line ends early. Its running time does not depend on the length of the line.
func cut(runes []rune, index, width int) Excerpt {
	low, high := max(0, index-width), min(len(runes), index+width+1)
	columns := make([]int, high-low+1) // columns before each character
	for i, r := range runes[low:high] {
		columns[i+1] = columns[i] + termwidth.Width(string(r))
	}
	all := columns[high-low]
	if all <= width && high-low == len(runes) {
		return Excerpt{strings.TrimRight(string(runes), " "), index}
	}
	first := max(0, min(columns[index-low]-width/4, all-width))
	from, _ := slices.BinarySearch(columns, first)
	to, exact := slices.BinarySearch(columns, columns[from]+width)
	if !exact {
		to--
	}
	from, to = from+low, to+low
	text := string(runes[from:to])
	index -= from
	if from > 0 {
		text, index = ellipsis+text, index+1
	}
	if to < len(runes) {
		text += ellipsis
	}
	return Excerpt{text, index}
}

// Show writes the location, and the line with a caret.
func (p Location) Show(b *strings.Builder) {
	untrusted.Fprintf(b, "  --> %s\n", p)
	p.Excerpt.show(b, p.Line)
}

// ShowLine writes only the line with a caret.
func (p Location) ShowLine(b *strings.Builder) { p.Excerpt.show(b, p.Line) }

func (e Excerpt) show(b *strings.Builder, number int) {
	if e.Line == "" {
		return
	}
	head, runes := fmt.Sprintf("%5d", number), []rune(e.Line)
	indent := termwidth.Width(string(runes[:min(max(e.Index, 0), len(runes))]))
	untrusted.Fprintf(b, "%s | %s\n", head, e.Line)
	untrusted.Fprintf(b, "%s | %s^\n", strings.Repeat(" ", len(head)), strings.Repeat(" ", indent))
}

// Preview returns a value as JSON, with sorted keys, shortened in the middle, and without secrets.
func Preview(v any, secrets secret.Texts) string {
	if len(secrets) > 0 {
		v = secrets.HidePieces(v)
	}
	return preview.JSON(v, valueWidth)
}
