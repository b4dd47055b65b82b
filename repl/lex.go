package repl

import (
	"strings"
	"unicode"
)

// token is a piece of a CEL expression; positions count code points, as
// cel-go's do.
type token struct {
	kind       tokenKind
	start, end int
	// open is true for a string without its end.
	open bool
	text string
}

type tokenKind uint8

const (
	tokenIdent tokenKind = iota
	tokenNumber
	tokenString
	tokenOperator
	tokenComment
)

// lex splits an expression, whole or not. White space is left out; characters
// that CEL does not know are operators.
func lex(src []rune) []token {
	var tokens []token
	for i := 0; i < len(src); {
		if unicode.IsSpace(src[i]) {
			i++
			continue
		}
		t := next(src, i)
		t.text = string(src[t.start:t.end])
		tokens = append(tokens, t)
		i = t.end
	}
	return tokens
}

func next(src []rune, i int) token {
	switch r := src[i]; {
	case r == '/' && at(src, i+1) == '/':
		return token{kind: tokenComment, start: i, end: span(src, i, func(r rune) bool { return r != '\n' })}
	case r == '"' || r == '\'':
		return lexString(src, i, i, false)
	case letter(r):
		if quote, raw := stringPrefix(src, i); quote > i {
			return lexString(src, i, quote, raw)
		}
		return token{kind: tokenIdent, start: i, end: span(src, i, letterOrDigit)}
	case unicode.IsDigit(r):
		return token{kind: tokenNumber, start: i, end: lexNumber(src, i)}
	}
	if two := string(src[i:min(i+2, len(src))]); strings.Contains(" && || == != <= >= .? [? ", " "+two+" ") && len(two) == 2 {
		if two == ".?" {
			return token{kind: tokenOperator, start: i, end: i + 2}
		}
		return token{kind: tokenOperator, start: i, end: i + 2}
	}
	return token{kind: tokenOperator, start: i, end: i + 1}
}

func at(src []rune, i int) rune {
	if i < len(src) {
		return src[i]
	}
	return 0
}

func letter(r rune) bool { return r == '_' || r < 128 && unicode.IsLetter(r) }

func letterOrDigit(r rune) bool { return letter(r) || r >= '0' && r <= '9' }

func span(src []rune, i int, in func(rune) bool) int {
	for i < len(src) && in(src[i]) {
		i++
	}
	return i
}

func lexNumber(src []rune, i int) int {
	end := span(src, i, letterOrDigit)
	if at(src, end) == '.' && unicode.IsDigit(at(src, end+1)) {
		end = span(src, end+1, letterOrDigit)
	}
	if last := src[end-1]; (last == 'e' || last == 'E') && (at(src, end) == '-' || at(src, end) == '+') {
		end = span(src, end+1, unicode.IsDigit)
	}
	return end
}

// stringPrefix is where the quote stands after r, b or both; i when none does.
func stringPrefix(src []rune, i int) (quote int, raw bool) {
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

func lexString(src []rune, start, quote int, raw bool) token {
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
			return token{kind: tokenString, start: start, end: i, open: true}
		case src[i] == q && !triple:
			return token{kind: tokenString, start: start, end: i + 1}
		case src[i] == q && at(src, i+1) == q && at(src, i+2) == q:
			return token{kind: tokenString, start: start, end: i + 3}
		}
	}
	return token{kind: tokenString, start: start, end: len(src), open: true}
}

// unfinished is true when an expression goes on in the next line: a bracket or
// a long string is open, or the last word asks for another.
func unfinished(src string) bool {
	tokens := lex([]rune(src))
	depth := 0
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == tokenComment {
		tokens = tokens[:len(tokens)-1]
	}
	for _, t := range tokens {
		depth += bracketDepth(t)
	}
	if len(tokens) == 0 {
		return false
	}
	last := tokens[len(tokens)-1]
	switch {
	case last.open:
		return strings.Contains(last.text, `"""`) || strings.Contains(last.text, "'''")
	case depth > 0:
		return true
	case last.kind == tokenIdent:
		return last.text == "in" && len(tokens) > 1
	}
	return last.kind == tokenOperator && strings.Contains(" && || == != <= >= < > + - * / % ? : , ! . .? ", " "+last.text+" ")
}

// continues is true for a line that cannot begin an expression, and so belongs
// to the one before.
func continues(line string) bool {
	tokens := lex([]rune(line))
	if len(tokens) == 0 || tokens[0].kind != tokenOperator {
		return false
	}
	return strings.Contains(" && || == != <= >= < > + * / % ? , . .? ", " "+tokens[0].text+" ")
}

// bracketDepth is how a token changes the number of open brackets.
func bracketDepth(t token) int {
	if t.kind != tokenOperator {
		return 0
	}
	switch t.text {
	case "(", "[", "{", "[?":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}
