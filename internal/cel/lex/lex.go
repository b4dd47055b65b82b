// Package lex reads CEL text, whole or half written: its tokens, and what text a
// node of a checked expression was written as.
package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// Token is a piece of a CEL expression; positions count code points, as
// cel-go's do.
type Token struct {
	Kind       Kind
	Start, End int
	// Open is true for a string without its end.
	Open bool
	Text string
}

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Ident Kind = iota
	Number
	String
	Operator
	Comment
)

// Tokens splits an expression, whole or not, as cel-go's lexer does; words of the
// language are names, and .? and [? one operator. White space is left out;
// characters that CEL does not know are operators.
func Tokens(src []rune) []Token {
	text := string(src)
	scanner := scan.WithComments(text)
	var tokens []Token
	seen, points := int32(0), 0
	for t := scanner.Next(); t.Kind != scan.EOF; t = scanner.Next() {
		points += utf8.RuneCountInString(text[seen:t.Start])
		one := Token{Kind: kindOf(t.Kind), Start: points, Open: t.Marks.Has(scan.Open), Text: text[t.Start:t.End]}
		points += utf8.RuneCountInString(one.Text)
		one.End, seen = points, t.End
		last := len(tokens) - 1
		switch {
		case t.Kind == scan.Bad && strings.TrimSpace(one.Text) == "":
			continue // white space that is none of CEL's
		case t.Kind == scan.Question && last >= 0 && tokens[last].End == one.Start && (tokens[last].Text == "." || tokens[last].Text == "["):
			tokens[last].End, tokens[last].Text = one.End, tokens[last].Text+"?"
			continue
		case t.Kind == scan.Float && one.Text[0] == '.' && last >= 0 && EndsOperand(tokens[last]) && adjacent(tokens[last], one):
			// a.0, of which somebody wants an item
			tokens = append(tokens, Token{Kind: Operator, Start: one.Start, End: one.Start + 1, Text: "."})
			one.Start, one.Text = one.Start+1, one.Text[1:]
		}
		tokens = append(tokens, one)
	}
	return tokens
}

func kindOf(kind scan.Kind) Kind {
	switch kind {
	case scan.Ident, scan.EscapedIdent, scan.True, scan.False, scan.Null, scan.In:
		return Ident
	case scan.Int, scan.Uint, scan.Float:
		return Number
	case scan.String, scan.Bytes:
		return String
	case scan.Comment:
		return Comment
	}
	return Operator
}

// Letter is true for what a name can begin with.
func Letter(r rune) bool { return r == '_' || r < 128 && unicode.IsLetter(r) }

// LetterOrDigit is true for what a name can go on with.
func LetterOrDigit(r rune) bool { return Letter(r) || digit(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

// StringPrefix is where the quote stands after r, b or both; i when none does.
func StringPrefix(src []rune, i int) (quote int, raw bool) {
	for j := i; j < len(src) && j < i+3; j++ {
		switch src[j] {
		case 'r', 'R':
			raw = true
		case 'b', 'B':
		case '"', '\'':
			return j, raw
		default:
			return i, false
		}
	}
	return i, false
}

// Unfinished is true when an expression goes on in the next line: a bracket or
// a long string is open, or the last word asks for another.
func Unfinished(src string) bool {
	tokens := Tokens([]rune(src))
	depth := 0
	for len(tokens) > 0 && tokens[len(tokens)-1].Kind == Comment {
		tokens = tokens[:len(tokens)-1]
	}
	for _, t := range tokens {
		depth += Depth(t)
	}
	if len(tokens) == 0 {
		return false
	}
	last := tokens[len(tokens)-1]
	switch {
	case last.Open:
		return strings.Contains(last.Text, `"""`) || strings.Contains(last.Text, "'''")
	case depth > 0:
		return true
	case last.Kind == Ident:
		return last.Text == "in" && len(tokens) > 1
	}
	return last.Kind == Operator && strings.Contains(" && || == != <= >= < > + - * / % ? : , ! . .? ", " "+last.Text+" ")
}

// Continues is true for a line that cannot begin an expression, and so belongs
// to the one before.
func Continues(line string) bool {
	tokens := Tokens([]rune(line))
	if len(tokens) == 0 || tokens[0].Kind != Operator {
		return false
	}
	return strings.Contains(" && || == != <= >= < > + * / % ? , . .? ", " "+tokens[0].Text+" ")
}

// Depth is how a token changes the number of open brackets.
func Depth(t Token) int {
	if t.Kind != Operator {
		return 0
	}
	switch t.Text {
	case "(", "[", "{", "[?":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}
