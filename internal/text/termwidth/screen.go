// Package termwidth measures and cuts text by terminal columns. The result does not depend on the
// locale, so the same input prints the same everywhere.
package termwidth

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

var condition = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns the number of columns that text occupies. Colors occupy none.
func Width(text string) int {
	if strings.Contains(text, "\x1b") {
		text = colorForm.ReplaceAllString(text, "")
	}
	return condition.StringWidth(text)
}

// Cut shortens text to the given number of columns, including an ellipsis if it was shortened.
func Cut(text string, columns int) string {
	if columns < 1 {
		return ""
	}
	return condition.Truncate(text, columns, "…")
}

// CutLeft makes text narrower by the given number of columns, by replacing its beginning with an ellipsis.
func CutLeft(text string, columns int) string { return condition.TruncateLeft(text, columns+1, "…") }
