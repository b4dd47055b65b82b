package position

import "strings"

// Escape is a line of text as it is written into a scalar of a style.
func (s Style) Escape(text string) string {
	switch s {
	case SingleQuoted:
		return strings.ReplaceAll(text, "'", "''")
	case DoubleQuoted:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	}
	return text
}
