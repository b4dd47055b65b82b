package table

import (
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

var leftover = lazy.New(`\$\{\w[^}\n]*\}|\{\{[^}\n]*\}\}|<%[^%\n]*%>|\$\(\w+\)`)

// Cut returns a hint for an expression with a mistake at a code point, if it has a placeholder, or if its end is part
// of a comment because YAML folds the lines, and the code point to show. Otherwise the hint is "".
func Cut(n *position.Node, at int) (hint string, point int) {
	if n == nil || n.Kind != position.Scalar {
		return "", at
	}
	if hint := Leftover(n.Value); hint != "" || n.Style != position.Folded {
		return hint, at
	}
	for _, t := range lex.Tokens([]rune(n.Value)) {
		if t.Kind == lex.Comment && t.Start <= at {
			return "> joins lines, so that // makes a comment of the lines joined to its own: write | in its place", t.Start
		}
	}
	return "", at
}

// Leftover returns a hint on a placeholder in a text, or "".
func Leftover(text string) string {
	if found := leftover.FindString(text); found != "" {
		return "a templating tool has left " + found + ": render the file before you apply it"
	}
	return ""
}
