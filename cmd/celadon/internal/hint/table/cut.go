package table

import (
	"slices"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

var leftover = lazy.New(`\$\{\w[^}\n]*\}|\{\{[^}\n]*\}\}|<%[^%\n]*%>|\$\(\w+\)`)

// Cut returns a hint for an expression with a mistake at a code point, if it has a placeholder, or if its end is part
// of a comment because YAML folds the lines. Otherwise it returns "".
func Cut(n *position.Node, at int) string {
	if n == nil || n.Kind != position.Scalar {
		return ""
	}
	if hint := Leftover(n.Value); hint != "" || n.Style != position.Folded {
		return hint
	}
	isSwallowing := func(t lex.Token) bool { return t.Kind == lex.Comment && t.Start <= at }
	if slices.ContainsFunc(lex.Tokens([]rune(n.Value)), isSwallowing) {
		return "> joins the lines, so that // makes a comment of all that follows: write | in its place"
	}
	return ""
}

// Leftover returns a hint on a placeholder in a text, or "".
func Leftover(text string) string {
	if found := leftover.FindString(text); found != "" {
		return "a templating tool has left " + found + ": render the file before you apply it"
	}
	return ""
}
