package repl

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// printable escapes what came from a file and would steer a terminal.
func printable(text string) string {
	return string(untrusted.Text(strings.ReplaceAll(text, "\t", " ")))
}
