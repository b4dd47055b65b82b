// Package lex splits complete or incomplete CEL source into tokens, and finds the source of the
// nodes of a checked expression.
package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// A Token is a token of a CEL expression. Positions count code points, as in cel-go.
type Token struct {
	Kind       Kind
	Start, End int
	// Open is set for a string or an escaped name without its closing quote.
	Open bool
	Text string
}

// A Kind is the kind of a token.
type Kind uint8

const (
	Ident Kind = iota
	Number
	String
	Operator
	Comment
)

// Tokens splits a complete or incomplete expression into tokens like cel-go's lexer, with these
// differences: comments are tokens, keywords are identifiers, .? and [? are single operators, a.0
// is split after its dot, and characters that are invalid in CEL are operators. White space is
// omitted.
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
			continue // white space that is not valid in CEL
		case t.Kind == scan.Question && last >= 0 && tokens[last].End == one.Start && (tokens[last].Text == "." || tokens[last].Text == "["):
			tokens[last].End, tokens[last].Text = one.End, tokens[last].Text+"?"
			continue
		case t.Kind == scan.Float && one.Text[0] == '.' && last >= 0 && EndsOperand(tokens[last]) && adjacent(tokens[last], one):
			// a.0 was probably meant to be an index: split the dot from the 0.
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

// Letter reports whether r can begin a name.
func Letter(r rune) bool { return r == '_' || r < 128 && unicode.IsLetter(r) }

// LetterOrDigit reports whether r can continue a name.
func LetterOrDigit(r rune) bool { return Letter(r) || digit(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

// StringPrefix returns the position of the quote after the prefix r, b, or both at i. It returns i
// if no such prefix starts there.
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

// Unfinished reports whether an expression continues on the next line: a bracket or a long string
// is open, or the last token must be followed by another.
func Unfinished(src string) bool {
	var p Progress
	unfinished := false
	for line := range strings.SplitSeq(src, "\n") {
		unfinished = p.Add(line)
	}
	return unfinished
}

// unfinishedAfter reports whether an expression with the given last token and depth of brackets continues on the next line.
// several is set if there are other tokens.
func unfinishedAfter(last Token, depth int, several bool) bool {
	switch {
	case last.Open:
		return longStart(last.Text) != ""
	case depth > 0:
		return true
	case last.Kind == Ident:
		return last.Text == "in" && several
	}
	return last.Kind == Operator && strings.Contains(" && || == != <= >= < > + - * / % ? : , ! . .? ", " "+last.Text+" ")
}

// Continues reports whether line begins with an operator that continues the previous line.
func Continues(line string) bool {
	tokens := Tokens([]rune(line))
	if len(tokens) == 0 || tokens[0].Kind != Operator {
		return false
	}
	return strings.Contains(" && || == != <= >= < > + * / % ? , . .? ", " "+tokens[0].Text+" ")
}

// Depth returns the change of the number of open brackets after t: 1, 0, or -1.
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
