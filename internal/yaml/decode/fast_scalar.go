package decode

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// scalar parses a value that begins on this line, in a block at indent, and advances to the line
// after it.
func (p *parser) scalar(s []byte, indent int) any {
	switch c := s[0]; c {
	case '"', '\'':
		return p.quoted(s, indent)
	case '[', '{':
		return p.flow(s, indent)
	case '|':
		return p.literal(s, indent)
	case '-', ':':
		if len(s) == 1 || s[1] == ' ' {
			p.giveUp()
		}
	case '?', ',', ']', '}', '#', '&', '*', '!', '>', '%', '@', '`':
		p.giveUp()
	}
	return p.plain(s, indent)
}

// end advances to the next line, which must not be indented deeper, because it would then continue
// the value.
func (p *parser) end(indent int) {
	p.next()
	if p.indent > indent {
		p.giveUp()
	}
}

// plain parses a plain scalar, which can span several lines.
func (p *parser) plain(s []byte, indent int) any {
	comment := bytes.Contains(s, []byte(" #"))
	if comment {
		s, _, _ = bytes.Cut(s, []byte(" #"))
		s = bytes.TrimRight(s, " ")
	}
	p.noKey(s)
	if comment {
		p.end(indent)
		return p.resolve(string(s))
	}
	from := p.at
	p.next()
	if p.indent <= indent {
		return p.resolve(string(s))
	}
	return p.resolve(p.folded(s, from, indent))
}

func (p *parser) noKey(s []byte) {
	if s[len(s)-1] == ':' || bytes.Contains(s, []byte(": ")) {
		p.giveUp()
	}
}

// folded appends the deeper lines from offset from to the first line.
func (p *parser) folded(first []byte, from, indent int) string {
	var b strings.Builder
	b.Write(first)
	empty := 0
	for p.at = from; p.at < len(p.text); {
		begin := p.at
		line := p.rawLine()
		content := bytes.Trim(line, " ")
		if len(content) == 0 {
			empty++
			continue
		}
		if len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
			p.at = begin
			break
		}
		if content[0] == '#' || bytes.Contains(content, []byte(" #")) {
			p.giveUp()
		}
		p.noKey(content)
		if empty == 0 {
			b.WriteByte(' ')
		}
		for ; empty > 0; empty-- {
			b.WriteByte('\n')
		}
		b.Write(content)
	}
	p.next()
	return b.String()
}

// quoted parses a quoted scalar, which can span several lines.
func (p *parser) quoted(s []byte, indent int) any {
	var b strings.Builder
	quote := s[0]
	for i := 1; ; i++ {
		if i == len(s) {
			s, i = p.foldQuoted(&b, indent), 0
		}
		switch c := s[i]; {
		case c == '\\' && quote == '"' && i+1 == len(s):
			s, i = p.joined(indent), -1
		case c == '\\' && quote == '"':
			i++
			b.WriteByte(p.escape(s, i))
		case c != quote:
			b.WriteByte(c)
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
			b.WriteByte('\'')
		default:
			if rest := bytes.TrimLeft(s[i+1:], " "); len(rest) > 0 && (rest[0] != '#' || s[i+1] != ' ') {
				p.giveUp()
			}
			p.next()
			return b.String()
		}
	}
}

// joined returns the line after a line break that is escaped by a backslash.
func (p *parser) joined(indent int) []byte {
	if p.at < 2 || p.text[p.at-2] != '\\' { // the backslash does not end the line
		p.giveUp()
	}
	line := p.rawLine()
	content := bytes.Trim(line, " ")
	if len(content) == 0 || len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
		p.giveUp()
	}
	return content
}

// foldQuoted advances from the end of a line in quotes to the next line with content. A single line
// break becomes a space, and each empty line becomes a line break.
func (p *parser) foldQuoted(b *strings.Builder, indent int) []byte {
	for empty := 0; p.at < len(p.text); empty++ {
		line := p.rawLine()
		content := bytes.Trim(line, " ")
		if len(content) == 0 {
			continue
		}
		if len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
			p.giveUp()
		}
		if empty == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Repeat("\n", empty))
		return content
	}
	p.giveUp()
	return nil
}

func (p *parser) escape(s []byte, i int) byte {
	if i < len(s) {
		switch s[i] {
		case '"', '\\', ' ':
			return s[i]
		case 'n':
			return '\n'
		case 'r':
			return '\r'
		case 't':
			return '\t'
		}
	}
	p.giveUp()
	return 0
}

// literal parses the lines of a block that begins with | or |-.
func (p *parser) literal(s []byte, indent int) any {
	strip := string(s) == "|-"
	if !strip && string(s) != "|" {
		p.giveUp()
	}
	var b strings.Builder
	own, empty := -1, 0
	for p.at < len(p.text) {
		begin := p.at
		line := p.rawLine()
		content := bytes.TrimLeft(line, " ")
		depth := len(line) - len(content)
		if len(content) == 0 {
			if own < 0 || depth > own {
				p.giveUp()
			}
			empty++
			continue
		}
		if own < 0 {
			if own = depth; own <= indent {
				p.giveUp()
			}
		}
		if depth < own {
			p.at = begin
			break
		}
		for ; empty > 0; empty-- {
			b.WriteByte('\n')
		}
		b.Write(line[own:])
		b.WriteByte('\n')
	}
	if own < 0 || p.at == len(p.text) && p.text[len(p.text)-1] != '\n' {
		p.giveUp()
	}
	p.next()
	if strip {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

var float = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolve converts a plain scalar to its YAML 1.1 type, like the library.
func (p *parser) resolve(s string) any {
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+':
		return p.number(s)
	case c == '.':
		if _, err := strconv.ParseFloat(s, 64); err == nil || len(s) <= len("+.inf") {
			p.giveUp()
		}
		return s
	case s == "<<":
		p.giveUp()
	}
	if len(s) <= len("false") {
		if v, ok := words[s]; ok {
			return v
		}
	}
	return s
}

func (p *parser) number(s string) any {
	if strings.ContainsRune(s, '_') || strings.Contains(s, "0b") || strings.HasPrefix(s[1:], ".") {
		p.giveUp() // -.inf is a number too
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n
	}
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		p.giveUp()
	}
	if !float.MatchString(s) {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	v, ok := decodeNumber(f)
	if err != nil || !ok {
		p.giveUp()
	}
	return v
}

// word reports whether YAML 1.1 interprets s as a boolean or null.
func word(s []byte) bool {
	if len(s) > len("false") {
		return false
	}
	_, ok := words[string(s)]
	return ok
}

var words = map[string]any{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false,
	"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
	"~": nil, "null": nil, "Null": nil, "NULL": nil,
}
