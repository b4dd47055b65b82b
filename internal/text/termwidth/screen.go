// Package termwidth measures and cuts text by the columns of a terminal. It does
// not ask the locale, so that the same input prints the same everywhere.
package termwidth

import "github.com/mattn/go-runewidth"

var condition = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns a text takes.
func Width(text string) int { return condition.StringWidth(text) }

// Cut is the beginning of a text, with an ellipsis within the columns where
// that is not all.
func Cut(text string, columns int) string {
	if columns < 1 {
		return ""
	}
	return condition.Truncate(text, columns, "…")
}

// CutLeft makes a text narrower by a number of columns: it leaves out its
// beginning, and puts an ellipsis there.
func CutLeft(text string, columns int) string { return condition.TruncateLeft(text, columns+1, "…") }
