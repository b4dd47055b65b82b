// Package lex reads CEL text, whole or half written: its tokens, and what text a
// node of a checked expression was written as.
package lex

import (
	"strings"
	"unicode"
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

// Tokens splits an expression, whole or not. White space is left out; characters
// that CEL does not know are operators.
func Tokens(src []rune) []Token {
	var tokens []Token
	for i := 0; i < len(src); {
		if unicode.IsSpace(src[i]) {
			i++
			continue
		}
		t := next(src, i)
		t.Text = string(src[t.Start:t.End])
		tokens = append(tokens, t)
		i = t.End
	}
	return tokens
}

func next(src []rune, i int) Token {
	switch r := src[i]; {
	case r == '/' && at(src, i+1) == '/':
		return Token{Kind: Comment, Start: i, End: span(src, i, func(r rune) bool { return r != '\n' })}
	case r == '"' || r == '\'':
		return lexString(src, i, i, false)
	case Letter(r):
		if quote, raw := StringPrefix(src, i); quote > i {
			return lexString(src, i, quote, raw)
		}
		return Token{Kind: Ident, Start: i, End: span(src, i, LetterOrDigit)}
	case digit(r):
		return Token{Kind: Number, Start: i, End: lexNumber(src, i)}
	}
	if two := string(src[i:min(i+2, len(src))]); strings.Contains(" && || == != <= >= .? [? ", " "+two+" ") && len(two) == 2 {
		return Token{Kind: Operator, Start: i, End: i + 2}
	}
	return Token{Kind: Operator, Start: i, End: i + 1}
}

func at(src []rune, i int) rune {
	if i < len(src) {
		return src[i]
	}
	return 0
}

// Letter is true for what a name can begin with.
func Letter(r rune) bool { return r == '_' || r < 128 && unicode.IsLetter(r) }

// LetterOrDigit is true for what a name can go on with.
func LetterOrDigit(r rune) bool { return Letter(r) || digit(r) }

func digit(r rune) bool { return r >= '0' && r <= '9' }

func span(src []rune, i int, in func(rune) bool) int {
	for i < len(src) && in(src[i]) {
		i++
	}
	return i
}

func lexNumber(src []rune, i int) int {
	end := span(src, i, LetterOrDigit)
	if at(src, end) == '.' && digit(at(src, end+1)) {
		end = span(src, end+1, LetterOrDigit)
	}
	if last := src[end-1]; (last == 'e' || last == 'E') && (at(src, end) == '-' || at(src, end) == '+') {
		end = span(src, end+1, digit)
	}
	return end
}

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

func lexString(src []rune, start, quote int, raw bool) Token {
	q := src[quote]
	triple := at(src, quote+1) == q && at(src, quote+2) == q
	i := quote + 1
	if triple {
		i = quote + 3
	}
	for ; i < len(src); i++ {
		switch {
		case src[i] == '\\' && !raw:
			i++
		case src[i] == '\n' && !triple:
			return Token{Kind: String, Start: start, End: i, Open: true}
		case src[i] == q && !triple:
			return Token{Kind: String, Start: start, End: i + 1}
		case src[i] == q && at(src, i+1) == q && at(src, i+2) == q:
			return Token{Kind: String, Start: start, End: i + 3}
		}
	}
	return Token{Kind: String, Start: start, End: len(src), Open: true}
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
