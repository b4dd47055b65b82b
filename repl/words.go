package repl

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// printable escapes what came from a file and would steer a terminal.
func printable(text string) string { return string(foreign.Text(strings.ReplaceAll(text, "\t", " "))) }
