// Package celscan splits CEL text into tokens, one pass over its bytes, as
// cel-go's lexer does: the longest token wins. Text that is no CEL gives tokens
// too, of kind Bad or with Open set, so that an editor can go on behind them.
package celscan

import "math"

// Token is a piece of a text; Start and End count bytes. It is small, since
// parsers copy tokens at each step.
type Token struct {
	Kind Kind
	// Escaped is true of a string with a backslash in it, and of one whose line
	// ends may need to be made plain; of a number in hexadecimal.
	Escaped bool
	// Open is true of a string or an escaped name without its end.
	Open       bool
	Start, End int32
}

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	EOF Kind = iota
	// Bad is a character that begins no token.
	Bad
	Ident
	// EscapedIdent is a name between backticks.
	EscapedIdent
	Int
	Uint
	Float
	String
	Bytes
	True
	False
	Null
	Comment

	And
	Or
	Question
	Colon
	Comma
	Dot
	Not
	OpenParen
	CloseParen
	OpenBracket
	CloseBracket
	OpenBrace
	CloseBrace

	// The binary operators; Minus is unary as well.
	Less
	LessEquals
	Greater
	GreaterEquals
	Equals
	NotEquals
	In
	Plus
	Minus
	Star
	Slash
	Percent
)

// Scanner reads the tokens of a text, its first two gigabytes. The zero Scanner
// reads none.
type Scanner struct {
	src string
	pos int
	// comments is true where comments are tokens.
	comments bool
}

// New begins to read a text at a byte.
func New(src string, at int) Scanner { return Scanner{src: cut(src), pos: at} }

// WithComments begins to read a text whose comments are wanted, too.
func WithComments(src string) Scanner { return Scanner{src: cut(src), comments: true} }

func cut(src string) string { return src[:min(len(src), math.MaxInt32-1)] }

// Next is the next token; at the end, and after it, an empty one of kind EOF.
func (s *Scanner) Next() Token {
	src, i := s.src, s.pos
	for ; i < len(src); i++ {
		c := src[i]
		switch class[c] {
		case space:
			continue
		case letter:
			return s.end(s.word(i))
		case digit:
			return s.end(s.number(i))
		case quote:
			return s.end(s.text(Token{Kind: String, Start: int32(i)}, i, false))
		case double:
			return s.end(s.operator(c, i))
		case single:
			if c == '.' && class[s.at(i+1)] == digit {
				return s.end(s.fraction(i, i))
			}
			s.pos = i + 1
			return token(singles[c], i, i+1)
		}
		switch {
		case c == '`':
			return s.end(s.escapedIdent(i))
		case c == '/' && s.at(i+1) == '/':
			start := i
			for i < len(src) && src[i] != '\n' {
				i++
			}
			if s.comments {
				return s.end(token(Comment, start, i))
			}
			i-- // at the line's end, if there is one, the loop goes on
		case c == '/':
			return s.end(token(Slash, i, i+1))
		default:
			return s.end(token(Bad, i, s.character(i)))
		}
	}
	return s.end(token(EOF, len(src), len(src)))
}

func token(kind Kind, start, end int) Token {
	return Token{Kind: kind, Start: int32(start), End: int32(end)}
}

// end goes on behind a token.
func (s *Scanner) end(t Token) Token {
	s.pos = int(t.End)
	return t
}

// at is the byte there; 0 behind the end.
func (s *Scanner) at(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

// operator reads one that may have a second character.
func (s *Scanner) operator(c byte, i int) Token {
	next, one, two, want := s.at(i+1), Bad, Bad, byte('=')
	switch c {
	case '!':
		one, two = Not, NotEquals
	case '<':
		one, two = Less, LessEquals
	case '>':
		one, two = Greater, GreaterEquals
	case '=':
		two = Equals
	case '&':
		two, want = And, '&'
	case '|':
		two, want = Or, '|'
	}
	if next == want {
		return token(two, i, i+2)
	}
	return token(one, i, i+1)
}

// word reads a name, a word of the language, or a string with a prefix.
func (s *Scanner) word(start int) Token {
	src, i := s.src, start+1
	for i < len(src) && class[src[i]]&name != 0 {
		i++
	}
	if i < len(src) && class[src[i]] == quote && i-start <= 2 {
		if t, ok := s.prefixed(start, i); ok {
			return t
		}
	}
	t := token(Ident, start, i)
	switch i - start {
	case 2:
		if src[start:i] == "in" {
			t.Kind = In
		}
	case 4:
		switch src[start:i] {
		case "true":
			t.Kind = True
		case "null":
			t.Kind = Null
		}
	case 5:
		if src[start:i] == "false" {
			t.Kind = False
		}
	}
	return t
}

// prefixed reads a string behind b, r or br.
func (s *Scanner) prefixed(start, at int) (Token, bool) {
	t, raw := Token{Kind: String, Start: int32(start)}, false
	switch first := s.src[start] | 0x20; {
	case first == 'b' && at-start == 1:
		t.Kind = Bytes
	case first == 'b' && s.src[start+1]|0x20 == 'r':
		t.Kind, raw = Bytes, true
	case first == 'r' && at-start == 1:
		raw = true
	default:
		return t, false
	}
	return s.text(t, at, raw), true
}

// text reads a string from its first quote.
func (s *Scanner) text(t Token, i int, raw bool) Token {
	src, q := s.src, s.src[i]
	if s.at(i+1) == q && s.at(i+2) == q {
		return s.longText(t, i+3, q, raw)
	}
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case c == q:
			t.End = int32(i + 1)
			return t
		case c == '\\' && !raw:
			t.Escaped = true
			if n := s.at(i + 1); n != '\n' && n != '\r' {
				i++
			}
		case c == '\n' || c == '\r':
			t.Open, t.End = true, int32(i)
			return t
		}
	}
	t.Open, t.End = true, int32(len(src))
	return t
}

// longText reads a string from behind its three quotes.
func (s *Scanner) longText(t Token, i int, q byte, raw bool) Token {
	src := s.src
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c == q && s.at(i+1) == q && s.at(i+2) == q:
			t.End = int32(i + 3)
			return t
		case c == '\\' && !raw:
			t.Escaped = true
			i++
		case c == '\r':
			t.Escaped = true
		}
	}
	t.Open, t.End = true, int32(len(src))
	return t
}

func (s *Scanner) number(start int) Token {
	i := start
	if s.src[i] == '0' && s.at(i+1) == 'x' && hex(s.at(i+2)) {
		for i += 2; hex(s.at(i)); {
			i++
		}
		t := s.unsigned(start, i)
		t.Escaped = true
		return t
	}
	i = s.digits(i)
	if s.at(i) == '.' && class[s.at(i+1)] == digit {
		return s.fraction(start, i)
	}
	if end := s.exponent(i); end > i {
		return token(Float, start, end)
	}
	return s.unsigned(start, i)
}

// unsigned ends a whole number, which a u may follow.
func (s *Scanner) unsigned(start, end int) Token {
	if s.at(end)|0x20 == 'u' {
		return token(Uint, start, end+1)
	}
	return token(Int, start, end)
}

// fraction reads on from a number's point.
func (s *Scanner) fraction(start, point int) Token {
	return token(Float, start, s.exponent(s.digits(point+1)))
}

// exponent is the end of the one at i; i where there is none.
func (s *Scanner) exponent(i int) int {
	if s.at(i)|0x20 != 'e' {
		return i
	}
	from := i + 1
	if c := s.at(from); c == '+' || c == '-' {
		from++
	}
	if end := s.digits(from); end > from {
		return end
	}
	return i
}

func (s *Scanner) digits(i int) int {
	for i < len(s.src) && class[s.src[i]] == digit {
		i++
	}
	return i
}

func (s *Scanner) escapedIdent(start int) Token {
	i := start + 1
	for i < len(s.src) && (class[s.src[i]]&name != 0 || s.src[i] == '.' || s.src[i] == '-' || s.src[i] == '/' || s.src[i] == ' ') {
		i++
	}
	if s.at(i) == '`' && i > start+1 {
		return token(EscapedIdent, start, i+1)
	}
	return Token{Kind: EscapedIdent, Open: true, Start: int32(start), End: int32(i)}
}

// character is the end of the one that begins at i.
func (s *Scanner) character(i int) int {
	for i++; i < len(s.src) && s.src[i]&0xC0 == 0x80; {
		i++
	}
	return i
}

func hex(c byte) bool { return class[c] == digit || 'a' <= c|0x20 && c|0x20 <= 'f' }
