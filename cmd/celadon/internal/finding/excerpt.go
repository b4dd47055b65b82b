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

// Excerpt is a line of a file with the index of the character that is meant.
type Excerpt struct {
	Line  string `json:"line"`
	Index int    `json:"index"`
}

const (
	lineWidth  = 100 // columns of an excerpt where nothing sets a bound
	valueWidth = 120 // characters of a value
	ellipsis   = "…"
)

// NewExcerpt cuts a long line to a width around its index; width 0, or more than
// is good to read, is a usual one. What stands from character hide on is left
// out, and a line that then still holds a secret.
func NewExcerpt(line string, index, hide, width int, secrets secret.Texts) Excerpt {
	if width == 0 || width > lineWidth {
		width = lineWidth
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

// printable puts a blank for what has no width of its own, so that the caret
// stands below its character.
func printable(r rune) rune {
	if !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}

// cut keeps as many columns of a line as there is room for: of those before the
// character that is meant a quarter, or more where the line ends sooner. It looks
// no further than that, however long the line is.
func cut(runes []rune, index, width int) Excerpt {
	low, high := max(0, index-width), min(len(runes), index+width+1)
	columns := make([]int, high-low+1) // before each character
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

// Show writes where the place is, and the line with a caret.
func (p Place) Show(b *strings.Builder) {
	untrusted.Fprintf(b, "  --> %s\n", p)
	p.Excerpt.show(b, p.Line)
}

// ShowLine writes only the line with a caret.
func (p Place) ShowLine(b *strings.Builder) { p.Excerpt.show(b, p.Line) }

// show writes the line and a caret under it.
func (e Excerpt) show(b *strings.Builder, number int) {
	if e.Line == "" {
		return
	}
	gutter := fmt.Sprintf("%5d", number)
	untrusted.Fprintf(b, "%s | %s\n", gutter, e.Line)
	untrusted.Fprintf(b, "%s | %s^\n", strings.Repeat(" ", len(gutter)), strings.Repeat(" ", e.indent()))
}

// indent returns the number of terminal columns before the character at Index.
func (e Excerpt) indent() int {
	runes := []rune(e.Line)
	return termwidth.Width(string(runes[:min(max(e.Index, 0), len(runes))]))
}

// Preview is a value as JSON, a long one shortened in the middle; map keys are
// sorted. Strings that hold a secret or are a piece of one are hidden.
func Preview(v any, secrets secret.Texts) string {
	if len(secrets) > 0 {
		v = secrets.HidePieces(v)
	}
	return preview.JSON(v, valueWidth)
}
