// Package scan splits CEL text into tokens, one pass over its bytes, as
// cel-go's lexer does: the longest token wins. Text that is no CEL gives tokens
// too, of kind Bad or marked Open, so that an editor can go on behind them.
package scan

import "math"

// Token is a piece of a text; Start and End count bytes. It has no more fields than
// a compiler keeps in registers, since parsers copy tokens at each step.
type Token struct {
	Kind       Kind
	Marks      Marks
	Start, End int32
}

// Marks are what else is known of a token.
type Marks uint8

// The marks.
const (
	// Escaped is that of a string with a backslash in it, and of one whose line
	// ends may need to be made plain; of a number in hexadecimal.
	Escaped Marks = 1 << iota
	// Open is that of a string or an escaped name without its end.
	Open
)

// Has says whether a token has a mark.
func (m Marks) Has(one Marks) bool { return m&one != 0 }

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
func (s *Scanner) Next() (t Token) {
	s.Read(&t)
	return t
}

// Read is Next in place: to a parser that keeps one token, a copy of each is what
// costs most.
func (s *Scanner) Read(t *Token) {
	src, i := s.src, s.pos
	for i < len(src) && class[src[i]] == space || s.skips(i) {
		if i++; src[i-1] == '/' {
			i = s.lineEnd(i)
		}
	}
	if i == len(src) {
		s.set(t, EOF, i, i)
		return
	}
	switch c := src[i]; class[c] {
	case letter:
		s.word(t, i)
	case single:
		if c == '.' && class[s.at(i+1)] == digit {
			s.fraction(t, i, i)
		} else {
			s.set(t, singles[c], i, i+1)
		}
	case double:
		s.operator(t, c, i)
	case quote:
		t.Kind = String
		s.text(t, i, i, false)
	case digit:
		s.number(t, i)
	default:
		s.rare(t, i)
	}
}

// rare reads what few tokens begin with.
func (s *Scanner) rare(t *Token, i int) {
	switch c := s.src[i]; {
	case c == '`':
		s.escapedIdent(t, i)
	case c == '/' && s.at(i+1) == '/':
		s.set(t, Comment, i, s.lineEnd(i))
	case c == '/':
		s.set(t, Slash, i, i+1)
	default:
		s.set(t, Bad, i, s.character(i))
	}
}

// set makes a token, and goes on behind it.
func (s *Scanner) set(t *Token, kind Kind, start, end int) {
	t.Kind, t.Marks, t.Start, t.End = kind, 0, int32(start), int32(end)
	s.pos = end
}

// skips: a comment begins there, which is no token.
func (s *Scanner) skips(i int) bool {
	return s.at(i) == '/' && s.at(i+1) == '/' && !s.comments
}

func (s *Scanner) lineEnd(i int) int {
	for i < len(s.src) && s.src[i] != '\n' {
		i++
	}
	return i
}

// at is the byte there; 0 behind the end.
func (s *Scanner) at(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

// operator reads one that may have a second character.
func (s *Scanner) operator(t *Token, c byte, i int) {
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
		s.set(t, two, i, i+2)
	} else {
		s.set(t, one, i, i+1)
	}
}

// longestWord is how long words of the language and prefixes of strings are.
const longestWord = len("false")

// word reads a name, a word of the language, or a string with a prefix.
func (s *Scanner) word(t *Token, start int) {
	src, i := s.src, start+1
	for i < len(src) && class[src[i]]&name != 0 {
		i++
	}
	s.set(t, Ident, start, i)
	if i-start > longestWord {
		return
	}
	switch src[start:i] {
	case "in":
		t.Kind = In
	case "true":
		t.Kind = True
	case "null":
		t.Kind = Null
	case "false":
		t.Kind = False
	default:
		if i < len(src) && class[src[i]] == quote && i-start <= 2 {
			s.prefixed(t, start, i)
		}
	}
}

// prefixed reads a string behind b, r or br; what else is there, is a name.
func (s *Scanner) prefixed(t *Token, start, at int) {
	raw := false
	switch first := s.src[start] | 0x20; {
	case first == 'b' && at-start == 1:
		t.Kind = Bytes
	case first == 'b' && s.src[start+1]|0x20 == 'r':
		t.Kind, raw = Bytes, true
	case first == 'r' && at-start == 1:
		t.Kind, raw = String, true
	default:
		return
	}
	s.text(t, start, at, raw)
}

// text reads a string from its first quote; its kind is known.
func (s *Scanner) text(t *Token, start, i int, raw bool) {
	src, q := s.src, s.src[i]
	s.set(t, t.Kind, start, len(src))
	if s.at(i+1) == q && s.at(i+2) == q {
		s.longText(t, i+3, q, raw)
		return
	}
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case c == q:
			s.end(t, i+1)
			return
		case c == '\\' && !raw:
			t.Marks |= Escaped
			if n := s.at(i + 1); n != '\n' && n != '\r' {
				i++
			}
		case c == '\n' || c == '\r':
			t.Marks |= Open
			s.end(t, i)
			return
		}
	}
	t.Marks |= Open
}

// longText reads a string from behind its three quotes.
func (s *Scanner) longText(t *Token, i int, q byte, raw bool) {
	src := s.src
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c == q && s.at(i+1) == q && s.at(i+2) == q:
			s.end(t, i+3)
			return
		case c == '\\' && !raw:
			t.Marks |= Escaped
			i++
		case c == '\r':
			t.Marks |= Escaped
		}
	}
	t.Marks |= Open
}

// end lets a token end there.
func (s *Scanner) end(t *Token, at int) {
	t.End, s.pos = int32(at), at
}

func (s *Scanner) number(t *Token, start int) {
	i := start
	if s.src[i] == '0' && s.at(i+1) == 'x' && hex(s.at(i+2)) {
		for i += 2; hex(s.at(i)); {
			i++
		}
		s.unsigned(t, start, i)
		t.Marks |= Escaped
		return
	}
	i = s.digits(i)
	if s.at(i) == '.' && class[s.at(i+1)] == digit {
		s.fraction(t, start, i)
	} else if end := s.exponent(i); end > i {
		s.set(t, Float, start, end)
	} else {
		s.unsigned(t, start, i)
	}
}

// unsigned ends a whole number, which a u may follow.
func (s *Scanner) unsigned(t *Token, start, end int) {
	if s.at(end)|0x20 == 'u' {
		s.set(t, Uint, start, end+1)
	} else {
		s.set(t, Int, start, end)
	}
}

// fraction reads on from a number's point.
func (s *Scanner) fraction(t *Token, start, point int) {
	s.set(t, Float, start, s.exponent(s.digits(point+1)))
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

func (s *Scanner) escapedIdent(t *Token, start int) {
	i := start + 1
	for i < len(s.src) && (class[s.src[i]]&name != 0 || s.src[i] == '.' || s.src[i] == '-' || s.src[i] == '/' || s.src[i] == ' ') {
		i++
	}
	if s.at(i) == '`' && i > start+1 {
		s.set(t, EscapedIdent, start, i+1)
		return
	}
	s.set(t, EscapedIdent, start, i)
	t.Marks |= Open
}

// character is the end of the one that begins at i.
func (s *Scanner) character(i int) int {
	for i++; i < len(s.src) && s.src[i]&0xC0 == 0x80; {
		i++
	}
	return i
}

func hex(c byte) bool { return class[c] == digit || 'a' <= c|0x20 && c|0x20 <= 'f' }
