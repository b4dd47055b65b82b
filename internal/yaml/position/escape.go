package position

import "strings"

// Escape returns a line of text in the form that a scalar of style s requires, without quotes.
func (s Style) Escape(text string) string {
	switch s {
	case SingleQuoted:
		return strings.ReplaceAll(text, "'", "''")
	case DoubleQuoted:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	}
	return text
}
