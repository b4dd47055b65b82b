package repl

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/x/assist"
)

// Terminal colors by purpose.
const (
	colorString   = "\x1b[32m"
	colorNumber   = "\x1b[33m"
	colorVariable = "\x1b[36m"
	colorCall     = "\x1b[34m"
	colorCommand  = "\x1b[35m"
	colorComment  = "\x1b[90m"
	colorError    = "\x1b[31m"
	colorBracket  = "\x1b[1;7m"
	colorLost     = "\x1b[31m"
	colorDim      = "\x1b[2m"
	colorDimError = "\x1b[2;31m"
	colorStrong   = "\x1b[1m"
	colorSelected = "\x1b[7m"
	colorReset    = "\x1b[0m"
)

// highlight colors a line, and marks the bracket at the cursor and its partner.
func highlight(line []rune, pos int) string {
	from := 0
	var b strings.Builder
	if len(line) > 0 && line[0] == ':' {
		from = len(line)
		if i := slices.Index(line, ' '); i >= 0 {
			from = i
		}
		b.WriteString(colorCommand + string(line[:from]) + colorReset)
		cmd, ok := findCommand(string(line[1:from]))
		if !ok || !cmd.expression {
			b.WriteString(string(line[from:]))
			return b.String()
		}
	}
	tokens := lex.Tokens(line[from:])
	marks := brackets(tokens, pos-from)
	last := from
	for i, t := range assist.Tokens(string(line[from:])) {
		start, end := t.Start+from, t.End+from
		b.WriteString(string(line[last:start]))
		color := colors[t.Class]
		if marks[i] != "" {
			color = marks[i]
		}
		if color == "" {
			b.WriteString(string(line[start:end]))
		} else {
			b.WriteString(color + string(line[start:end]) + colorReset)
		}
		last = end
	}
	b.WriteString(string(line[last:]))
	return b.String()
}

// colors maps each class of expression tokens to its color.
var colors = map[assist.Class]string{
	assist.ClassText: colorString, assist.ClassNumber: colorNumber, assist.ClassWord: colorNumber, assist.ClassComment: colorComment,
	assist.ClassVariable: colorVariable, assist.ClassFunction: colorCall, assist.ClassMethod: colorCall, assist.ClassMacro: colorCall,
}

// brackets returns the colors, by token index, of the bracket at or before the cursor and its
// partner, and of closing brackets without a partner.
func brackets(tokens []lex.Token, pos int) map[int]string {
	marks := map[int]string{}
	var open []int
	for i, t := range tokens {
		switch lex.Depth(t) {
		case 1:
			open = append(open, i)
		case -1:
			if len(open) == 0 {
				marks[i] = colorLost
				continue
			}
			partner := open[len(open)-1]
			open = open[:len(open)-1]
			if near(t, pos) || near(tokens[partner], pos) {
				marks[i], marks[partner] = colorBracket, colorBracket
			}
		}
	}
	return marks
}

func near(t lex.Token, pos int) bool { return t.Start == pos || t.End == pos }
