package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/internal/preview"
	"github.com/celadon-cel/celadon/internal/screen"
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

// Hidden stands for what must not be shown.
const Hidden = "(hidden)"

// NewExcerpt cuts a long line to a width around its index; width 0, or more than
// is good to read, is a usual one. What stands from character hide on is left
// out, and a line that then still holds a secret.
func NewExcerpt(line string, index, hide, width int, secrets Secrets) Excerpt {
	if width == 0 || width > lineWidth {
		width = lineWidth
	}
	runes := []rune(strings.Map(printable, line))
	if hide < len(runes) {
		if index > hide {
			return Excerpt{}
		}
		runes = append(runes[:hide:hide], []rune(Hidden)...)
	}
	if secrets.in(string(runes)) {
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
		columns[i+1] = columns[i] + screen.Width(string(r))
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
	foreign.Fprintf(b, "  --> %s\n", p)
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
	foreign.Fprintf(b, "%s | %s\n", gutter, e.Line)
	foreign.Fprintf(b, "%s | %s^\n", strings.Repeat(" ", len(gutter)), strings.Repeat(" ", e.indent()))
}

// indent is how many columns of a terminal stand before the character.
func (e Excerpt) indent() int {
	runes := []rune(e.Line)
	return screen.Width(string(runes[:min(e.Index, len(runes))]))
}

// Secrets are the strings of an object that must not be shown.
type Secrets []string

// mostSecrets is how many are looked for in each text: beside more, nothing is
// shown.
const mostSecrets = 1000

// in is true where the text holds a secret, whatever its case.
func (s Secrets) in(text string) bool {
	if len(s) > mostSecrets {
		return true
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(s, func(secret string) bool { return strings.Contains(text, strings.ToLower(secret)) })
}

// partOf is true where the text is a piece of a secret.
func (s Secrets) partOf(text string) bool {
	return len(s) > mostSecrets || text != "" && slices.ContainsFunc(s, func(secret string) bool { return strings.Contains(strings.ToLower(secret), strings.ToLower(text)) })
}

// Preview is a value as JSON, a long one shortened in the middle; map keys are
// sorted. Strings that hold a secret or are a piece of one are hidden.
func Preview(v any, secrets Secrets) string {
	if len(secrets) > 0 {
		v = secrets.hide(v)
	}
	return preview.JSON(v, valueWidth)
}

// hide is for values that rules make: pieces of a secret are hidden too.
func (s Secrets) hide(v any) any {
	return hidden(v, func(text string) bool { return s.in(text) || s.partOf(text) }, s.in)
}

// Hide is a value without the strings and keys that hold a secret.
func (s Secrets) Hide(v any) any { return hidden(v, s.in, s.in) }

func hidden(v any, text, key func(string) bool) any {
	switch v := v.(type) {
	case string:
		if text(v) {
			return Hidden
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = hidden(v[i], text, key)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			if key(name) {
				name = Hidden
			}
			out[name] = hidden(field, text, key)
		}
		return out
	}
	return v
}
