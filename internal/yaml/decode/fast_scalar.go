package decode

import "bytes"

// scalar reads the value that begins on this line, in a block at indent, and advances to the line
// after it.
func (r *reader) scalar(indent int) any {
	switch r.text[r.at] {
	case '"', '\'':
		return r.quoted(indent)
	case '[', '{':
		return r.flow()
	case '|':
		return r.literal(indent)
	case '-', ':':
		if r.spaceAt(r.at + 1) {
			return r.fail()
		}
	case '?', ',', ']', '}', '#', '&', '*', '!', '>', '%', '@', '`':
		return r.fail()
	}
	return r.plain(indent)
}

var plainEnd = [256]bool{'\n': true, ':': true, '#': true}

func (r *reader) plain(indent int) any {
	text, start := r.text, r.at
	i, comment := start, false
	for ; i < len(text); i++ {
		if !plainEnd[text[i]] {
			continue
		}
		if c := text[i]; c == '\n' || c == '#' && text[i-1] == ' ' {
			comment = c == '#'
			break
		} else if c == ':' && r.spaceAt(i+1) {
			return r.fail()
		}
	}
	s := bytes.TrimRight(text[start:i], " ")
	from := r.lineAfter(i)
	r.at = from
	r.next()
	if r.indent <= indent {
		return r.resolve(s)
	}
	// The value continues on the next line. A comment would end it.
	if comment {
		return r.fail()
	}
	r.at = from
	return r.folded(s, indent)
}

// restOfLine returns the rest of the line without spaces at its end, and advances to the next line.
func (r *reader) restOfLine() []byte {
	start := r.at
	r.at = r.lineAfter(start)
	return bytes.TrimRight(bytes.TrimSuffix(r.text[start:r.at], newline), " ")
}

var (
	newline      = []byte("\n")
	commentStart = []byte(" #")
	keyEnd       = []byte(": ")
)

// nextInScalar advances to the next line of a scalar and returns its content, its indentation, and
// the number of skipped empty lines. The content is empty at the end of the text.
func (r *reader) nextInScalar() (content []byte, indent, empty int) {
	for r.at < len(r.text) {
		line := r.restOfLine()
		content = bytes.TrimLeft(line, " ")
		if len(content) > 0 {
			return content, len(line) - len(content), empty
		}
		empty++
	}
	return nil, atEnd, empty
}

// fold appends a line break, which becomes a space, or the empty lines.
func (r *reader) fold(empty int) {
	if empty == 0 {
		r.built = append(r.built, ' ')
	}
	r.breaks(empty)
}

func (r *reader) breaks(n int) {
	for range n {
		r.built = append(r.built, '\n')
	}
}

func (r *reader) folded(first []byte, indent int) any {
	r.built = append(r.built[:0], first...)
	for {
		begin := r.at
		content, depth, empty := r.nextInScalar()
		if depth <= indent {
			r.at = begin
			r.next()
			return r.resolve(r.built)
		}
		if content[0] == '#' || bytes.Contains(content, commentStart) || content[len(content)-1] == ':' || bytes.Contains(content, keyEnd) {
			return r.fail()
		}
		r.fold(empty)
		r.built = append(r.built, content...)
	}
}

func (r *reader) quoted(indent int) any {
	text, quote := r.text, r.text[r.at]
	for i := r.at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\', '\n':
			return r.longQuoted(indent)
		case quote:
			if quote == '\'' && i+1 < len(text) && text[i+1] == quote {
				return r.longQuoted(indent)
			}
			v := string(text[r.at+1 : i])
			r.endLine(i + 1)
			return v
		}
	}
	return r.fail()
}

func (r *reader) longQuoted(indent int) any {
	r.built = r.built[:0]
	s := r.restOfLine()
	quote := s[0]
	for i := 1; ; i++ {
		if i >= len(s) {
			var empty int
			if s, empty = r.nextQuoted(indent); r.failed {
				return nil
			}
			r.fold(empty)
			i = 0
		}
		switch c := s[i]; {
		case c == '\\' && quote == '"' && i+1 == len(s):
			var empty int
			atBreak := r.at >= 2 && r.text[r.at-2] == '\\'
			if s, empty = r.nextQuoted(indent); r.failed || empty > 0 || !atBreak {
				return r.fail()
			}
			i = -1
		case c == '\\' && quote == '"':
			i++
			if c = escapes[s[i]]; c == 0 {
				return r.fail()
			}
			r.built = append(r.built, c)
		case c != quote:
			r.built = append(r.built, c)
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
			r.built = append(r.built, '\'')
		default:
			v := string(r.built)
			if rest := bytes.TrimLeft(s[i+1:], " "); len(rest) > 0 && (rest[0] != '#' || s[i+1] != ' ') {
				return r.fail()
			}
			r.next()
			return v
		}
	}
}

// nextQuoted fails at the end of the text, and if the line is not indented.
func (r *reader) nextQuoted(indent int) (content []byte, empty int) {
	content, depth, empty := r.nextInScalar()
	if depth <= indent {
		r.fail()
	}
	return content, empty
}

// escapes maps the character after a backslash to the character of the string. The library
// decodes strings with other escape sequences.
var escapes = [256]byte{'"': '"', '\\': '\\', ' ': ' ', 'n': '\n', 'r': '\r', 't': '\t'}

// literal reads the lines of a block that begins with | or |-.
func (r *reader) literal(indent int) any {
	header := r.restOfLine()
	strip := string(header) == "|-"
	if !strip && string(header) != "|" {
		return r.fail()
	}
	r.built = r.built[:0]
	own, empty := -1, 0
	for r.at < len(r.text) {
		begin := r.at
		r.skipSpaces()
		depth := r.at - begin
		if r.at == len(r.text) || r.text[r.at] == '\n' {
			if own < 0 || depth > own {
				return r.fail()
			}
			r.at = r.lineAfter(r.at)
			empty++
			continue
		}
		if own < 0 {
			if own = depth; own <= indent {
				return r.fail()
			}
		}
		if depth < own {
			r.at = begin
			break
		}
		r.breaks(empty)
		empty = 0
		r.at = r.lineAfter(begin)
		r.built = append(r.built, r.text[begin+own:r.at]...)
	}
	if own < 0 || r.at == len(r.text) && r.text[len(r.text)-1] != '\n' {
		return r.fail()
	}
	r.next()
	if strip {
		return string(bytes.TrimSuffix(r.built, newline))
	}
	return string(r.built)
}
