package position

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A matcher follows the source of a scalar and compares each step with its value.
type matcher struct {
	text  string
	at    int // the next byte of text
	value string
	done  int // number of bytes of value already matched
	json  bool
	runs  *[]run // nil if only the end is needed
	last  int    // the end of a block scalar
	// If reading is set, the matcher instead reads the value from all of text into read.
	reading bool
	read    []byte
}

// known is false if the source does not match the parser's value.
func scalarEnd(text string, n *Node) (end int, known bool) {
	m := matcher{text: text, at: n.Start, value: n.Value}
	if !m.scalar(n) {
		return n.Start, false
	}
	if n.Style == Literal || n.Style == Folded {
		return m.last, true
	}
	return m.at, true
}

func (m *matcher) scalar(n *Node) bool {
	ok := false
	switch n.Style {
	case Plain:
		ok = m.plain()
	case SingleQuoted:
		ok = m.quoted('\'')
	case DoubleQuoted:
		ok = m.quoted('"')
	case Literal, Folded:
		ok = m.block(n.Style == Literal, int(n.indent))
	}
	return ok && (m.reading || m.done == len(m.value))
}

func (m *matcher) matchSame(n int) bool {
	if m.reading {
		m.read = append(m.read, m.text[m.at:m.at+n]...)
	} else if m.done+n > len(m.value) || m.value[m.done:m.done+n] != m.text[m.at:m.at+n] {
		return false
	}
	m.run(n, n)
	return true
}

// matchAs matches n source bytes that represent value, and reports whether it succeeded.
func (m *matcher) matchAs(n int, value string) bool {
	if m.reading {
		m.read = append(m.read, value...)
	} else if !strings.HasPrefix(m.value[m.done:], value) {
		return false
	}
	m.run(n, len(value))
	return true
}

func (m *matcher) run(source, value int) {
	if m.runs != nil && value > 0 {
		r := run{m.done, value, m.at, source}
		if k := len(*m.runs) - 1; k >= 0 && source == value && (*m.runs)[k].continues(r) {
			(*m.runs)[k].valueLen += value
			(*m.runs)[k].sourceLen += source
		} else {
			*m.runs = append(*m.runs, r)
		}
	}
	m.at += source
	m.done += value
}

func (r run) continues(next run) bool {
	return r.valueLen == r.sourceLen && r.value+r.valueLen == next.value && r.source+r.sourceLen == next.source
}

// wordLength returns the number of bytes before the next white space, line break, or byte in stop. The
// result is at most limit.
func (m *matcher) wordLength(stop string, limit int) int {
	i := m.at
	for end := m.at + min(limit, len(m.text)-m.at); i < end; i++ {
		c := m.text[i]
		if blank(c) || strings.IndexByte(stop, c) >= 0 {
			break
		}
		if n, _ := lineBreak(m.text[i:]); n > 0 {
			break
		}
	}
	return i - m.at
}

// A plain scalar ends where its value ends, because it has no delimiter.
func (m *matcher) plain() bool {
	for m.reading && m.at < len(m.text) || m.done < len(m.value) {
		most := len(m.value) - m.done
		if m.reading {
			most = len(m.text)
		}
		n := m.wordLength("", most)
		if n > 0 && !m.matchSame(n) || n == 0 && (m.at == len(m.text) || !m.fold()) {
			return false
		}
	}
	return true
}

func (m *matcher) quoted(quote byte) bool {
	if m.at >= len(m.text) || m.text[m.at] != quote {
		return false
	}
	m.at++
	stop := string(quote)
	if quote == '"' {
		stop += `\`
	}
	for m.at < len(m.text) {
		ok := true
		switch c := m.text[m.at]; {
		case c == quote && quote == '\'' && strings.HasPrefix(m.text[m.at:], "''"):
			ok = m.matchAs(2, "'")
		case c == quote && m.reading && m.at+1 < len(m.text):
			ok = m.matchSame(1) // the user will escape it later
		case c == quote:
			m.at++
			return true
		case c == '\\' && quote == '"':
			if ok = m.escape(); !ok && m.reading {
				ok = m.matchSame(1)
			}
		case m.json:
			ok = m.jsonRune()
		default:
			if n := m.wordLength(stop, len(m.text)); n > 0 {
				ok = m.matchSame(n)
			} else {
				ok = m.fold()
			}
		}
		if !ok {
			return false
		}
	}
	return m.reading // the closing quote is still missing
}

// jsonRune matches a character and reports whether it succeeded. JSON decoders replace invalid
// UTF-8.
func (m *matcher) jsonRune() bool {
	r, n := utf8.DecodeRuneInString(m.text[m.at:])
	if r == utf8.RuneError && n == 1 {
		return m.matchAs(1, "\ufffd")
	}
	return m.matchSame(n)
}

// escapes maps the character after a backslash to its value, for YAML and JSON.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

func (m *matcher) escape() bool {
	rest := m.text[m.at+1:]
	if rest == "" {
		return false
	}
	if n, _ := lineBreak(rest); n > 0 {
		m.at += 1 + n
		return m.breaks()
	}
	n := digits[rest[0]]
	if n == 0 {
		value, ok := escapes[rest[0]]
		return ok && m.matchAs(2, value)
	}
	r, ok := hexRune(rest[1:], n)
	if !ok {
		return false
	}
	size := 2 + n
	if (m.json || m.reading) && utf16.IsSurrogate(r) {
		low, ok := rune(0), false
		if strings.HasPrefix(rest[1+n:], `\u`) {
			low, ok = hexRune(rest[1+n+2:], n)
		}
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			size += 2 + n
		}
	}
	return m.matchAs(size, string(r))
}

func hexRune(digits string, n int) (rune, bool) {
	if len(digits) < n {
		return 0, false
	}
	r, err := strconv.ParseUint(digits[:n], 16, 32)
	return rune(r), err == nil
}

// fold matches white space and reports whether it succeeded. A single line break becomes a space.
// Of several line breaks, the first is dropped. White space around line breaks is dropped.
func (m *matcher) fold() bool {
	i := m.blanks(m.at)
	n, value := lineBreak(m.text[i:])
	if n == 0 {
		return i > m.at && m.matchSame(i-m.at)
	}
	m.at = i
	more, _ := lineBreak(m.text[m.blanks(i+n):])
	switch {
	case value == "\n" && more == 0:
		value = " "
	case value == "\n":
		value = ""
	}
	return m.matchAs(n, value) && m.breaks()
}

// breaks matches line breaks that are preserved in the value, drops the white space around them,
// and reports whether it succeeded.
func (m *matcher) breaks() bool {
	for {
		m.at = m.blanks(m.at)
		n, value := lineBreak(m.text[m.at:])
		if n == 0 {
			return true
		}
		if !m.matchAs(n, value) {
			return false
		}
	}
}

func (m *matcher) blanks(i int) int {
	for i < len(m.text) && blank(m.text[i]) {
		i++
	}
	return i
}

// A Text maps between offsets in a scalar's value, for example of a rule, and offsets in its
// source.
type Text struct {
	runs []run
	node *Node
}

// A run is a part of a value and its source. If both lengths are equal, the bytes correspond one to
// one. Otherwise the run is a single character, written for example as an escape or a line break.
type run struct{ value, valueLen, source, sourceLen int }

// Text returns the mapping of a scalar. It returns false if n is not a scalar or if its end is
// unknown.
func (d *Document) Text(n *Node) (*Text, bool) {
	if n.Kind != Scalar || !n.Known {
		return nil, false
	}
	t := &Text{node: n}
	m := matcher{text: d.text, at: n.Start, value: n.Value, json: d.json, runs: &t.runs}
	if n.limit > 0 {
		m.text, m.reading = d.text[:n.limit], true
	}
	return t, m.scalar(n)
}

// Source returns the offset in the document of byte i of the value. For the end of the value, it
// returns the end of its last character.
func (t *Text) Source(i int) int {
	at := sort.Search(len(t.runs), func(k int) bool { return t.runs[k].value > i }) - 1
	if at < 0 {
		return t.node.Start
	}
	r := t.runs[at]
	switch {
	case i >= r.value+r.valueLen:
		return r.source + r.sourceLen
	case r.valueLen == r.sourceLen:
		return r.source + i - r.value
	}
	return r.source
}

// Value returns the index of the byte in the value that an offset in the document represents. For
// an offset without a value, such as in indentation or quotes, it returns the next byte that is
// represented.
func (t *Text) Value(offset int) int {
	at := sort.Search(len(t.runs), func(k int) bool { return t.runs[k].source > offset }) - 1
	if at < 0 {
		return 0
	}
	r := t.runs[at]
	switch {
	case offset >= r.source+r.sourceLen:
		return r.value + r.valueLen
	case r.valueLen == r.sourceLen:
		return r.value + offset - r.source
	}
	return r.value
}

// SourcePoint is like Source, but takes a zero-based code point index, as in CEL.
func (t *Text) SourcePoint(point int) int {
	i := 0
	for range point {
		_, size := utf8.DecodeRuneInString(t.node.Value[i:])
		i += size
	}
	return t.Source(i)
}

// Point is like Value, but returns a code point index.
func (t *Text) Point(offset int) int { return utf8.RuneCountInString(t.node.Value[:t.Value(offset)]) }
