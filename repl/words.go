package repl

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// printable replaces tabs by spaces and escapes characters that could control a terminal.
func printable(text string) string {
	return string(untrusted.Text(strings.ReplaceAll(text, "\t", " ")))
}
