// Package scan splits CEL source into tokens in a single pass over its bytes.
//
// Like cel-go's lexer, it prefers the longest token. Invalid text also results in tokens, of kind
// Bad or with the mark Open, so that editors can continue after it.
package scan

import "math"

// A Token is a token of the source. Start and End are byte offsets.
// The struct is small enough for the compiler to keep it in registers, because parsers copy tokens at each step.
type Token struct {
	Kind       Kind
	Marks      Marks
	Start, End int32
}

// Marks is a set of token properties.
type Marks uint8

const (
	// Escaped marks a string with escape sequences or with line endings to normalize, and a
	// hexadecimal number.
	Escaped Marks = 1 << iota
	// Open marks a string or an escaped name without its closing quote.
	Open
)

// Has reports whether m contains the mark.
func (m Marks) Has(one Marks) bool { return m&one != 0 }

// A Kind is the kind of a token.
type Kind uint8

const (
	EOF Kind = iota
	// Bad is a character that cannot begin a token.
	Bad
	Ident
	// EscapedIdent is a name in backticks.
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

	// Binary operators; Minus is also unary.
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

// A Scanner splits the first two gigabytes of a source into tokens. The zero Scanner has an empty
// source.
type Scanner struct {
	src      string
	pos      int
	comments bool
}

// New returns a scanner for src that starts at byte offset at and skips comments.
func New(src string, at int) Scanner { return Scanner{src: cut(src), pos: at} }

// WithComments returns a scanner for src that returns comments as tokens.
func WithComments(src string) Scanner { return Scanner{src: cut(src), comments: true} }

func cut(src string) string { return src[:min(len(src), math.MaxInt32-1)] }

// Next returns the next token, or an empty token of kind EOF at the end.
func (s *Scanner) Next() (t Token) {
	s.Read(&t)
	return t
}

// Read is like Next, but stores the token in t. Copying tokens would dominate the time of a parser
// that keeps only the current token.
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

func (s *Scanner) set(t *Token, kind Kind, start, end int) {
	t.Kind, t.Marks, t.Start, t.End = kind, 0, int32(start), int32(end)
	s.pos = end
}

func (s *Scanner) skips(i int) bool {
	return s.at(i) == '/' && s.at(i+1) == '/' && !s.comments
}

func (s *Scanner) lineEnd(i int) int {
	for i < len(s.src) && s.src[i] != '\n' {
		i++
	}
	return i
}

func (s *Scanner) at(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

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

// longestWord is the length of the longest keyword. String prefixes are shorter.
const longestWord = len("false")

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

// prefixed reads a string with the prefix b, r, or br. If the prefix is invalid, t remains a name.
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

// The kind of t is already set; the first quote is at i.
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

func (s *Scanner) unsigned(t *Token, start, end int) {
	if s.at(end)|0x20 == 'u' {
		s.set(t, Uint, start, end+1)
	} else {
		s.set(t, Int, start, end)
	}
}

func (s *Scanner) fraction(t *Token, start, point int) {
	s.set(t, Float, start, s.exponent(s.digits(point+1)))
}

// exponent returns the end of the exponent at i, or i if the number has no exponent.
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

func (s *Scanner) character(i int) int {
	for i++; i < len(s.src) && s.src[i]&0xC0 == 0x80; {
		i++
	}
	return i
}

func hex(c byte) bool { return class[c] == digit || 'a' <= c|0x20 && c|0x20 <= 'f' }
