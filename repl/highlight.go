package repl

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/x/assist"
)

// Terminal colors by purpose.
const (
	colourString   = "\x1b[32m"
	colourNumber   = "\x1b[33m"
	colourVariable = "\x1b[36m"
	colourCall     = "\x1b[34m"
	colourCommand  = "\x1b[35m"
	colourComment  = "\x1b[90m"
	colourError    = "\x1b[31m"
	colourBracket  = "\x1b[1;7m"
	colourLost     = "\x1b[31m"
	colourNone     = "\x1b[0m"
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
		b.WriteString(colourCommand + string(line[:from]) + colourNone)
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
		colour := colours[t.Class]
		if marks[i] != "" {
			colour = marks[i]
		}
		if colour == "" {
			b.WriteString(string(line[start:end]))
		} else {
			b.WriteString(colour + string(line[start:end]) + colourNone)
		}
		last = end
	}
	b.WriteString(string(line[last:]))
	return b.String()
}

// colours maps each class of expression tokens to its color.
var colours = map[assist.Class]string{
	assist.ClassText: colourString, assist.ClassNumber: colourNumber, assist.ClassWord: colourNumber, assist.ClassComment: colourComment,
	assist.ClassVariable: colourVariable, assist.ClassFunction: colourCall, assist.ClassMethod: colourCall, assist.ClassMacro: colourCall,
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
				marks[i] = colourLost
				continue
			}
			partner := open[len(open)-1]
			open = open[:len(open)-1]
			if near(t, pos) || near(tokens[partner], pos) {
				marks[i], marks[partner] = colourBracket, colourBracket
			}
		}
	}
	return marks
}

func near(t lex.Token, pos int) bool { return t.Start == pos || t.End == pos }
