package decode

import (
	"bytes"
	"unicode/utf8"
)

// fast decodes the subset of YAML that is common in Kubernetes: block mappings and lists, flow
// collections on a single line, plain and quoted scalars, and literal blocks. For anything else,
// including errors, it returns false, and the library decodes the document from the start. It
// therefore reports no errors and does not determine which documents are valid.
func fast(text []byte) (v any, ok bool) {
	if !simple(text) {
		return nil, false
	}
	p := parser{text: bytes.TrimPrefix(text, []byte("---\n"))}
	defer func() {
		if r := recover(); r != nil {
			if _, given := r.(giveUp); !given {
				panic(r)
			}
			v, ok = nil, false
		}
	}()
	p.next()
	if p.eof || p.indent != 0 {
		return nil, false
	}
	v = p.block(0)
	if !p.eof {
		return nil, false
	}
	return v, true
}

// giveUp is the panic value that abandons fast. It is recovered in this file.
type giveUp struct{}

func (p *parser) giveUp() { panic(giveUp{}) }

// simple reports whether text has only ordinary characters: no tabs or byte order mark, and line
// feeds as the only line breaks.
func simple(text []byte) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return false
			}
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r < 0xa0 || r == utf8.RuneError || r == '\u2028' || r == '\u2029' || r >= 0xfe00 && r <= 0xffff {
			return false
		}
		i += n - 1
	}
	return true
}

// A parser advances from one line with content to the next, skipping comments and empty lines.
type parser struct {
	text []byte
	at   int // start of the next line

	content []byte // of this line, trimmed
	indent  int
	eof     bool
	depth   int
}

// next advances to the next line with content.
func (p *parser) next() {
	for p.at < len(p.text) {
		line := p.rawLine()
		content := bytes.Trim(line, " ")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		p.content = content
		p.indent = len(line) - len(bytes.TrimLeft(line, " "))
		if p.indent == 0 && (content[0] == '%' || bytes.HasPrefix(content, []byte("---")) || bytes.HasPrefix(content, []byte("..."))) {
			p.giveUp()
		}
		return
	}
	p.eof, p.content, p.indent = true, nil, -1
}

// rawLine returns the next line, whatever its content.
func (p *parser) rawLine() []byte {
	rest := p.text[p.at:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		p.at = len(p.text)
		return rest
	}
	p.at += end + 1
	return rest[:end]
}

func (p *parser) isItem() bool {
	return p.content[0] == '-' && (len(p.content) == 1 || p.content[1] == ' ')
}

const maxDepth = 100

// block parses the list or mapping that begins on this line.
func (p *parser) block(indent int) any {
	if p.depth++; p.depth > maxDepth {
		p.giveUp()
	}
	defer func() { p.depth-- }()
	if p.isItem() {
		return p.list(indent)
	}
	return p.mapping(indent)
}

func (p *parser) list(indent int) any {
	items := []any{}
	for !p.eof && p.indent == indent && p.isItem() {
		rest := bytes.TrimLeft(p.content[1:], " ")
		if len(rest) == 0 || rest[0] == '#' {
			items = append(items, p.below(indent, false))
			continue
		}
		// The text after "- " is parsed as a line that is indented to its column.
		inner := indent + len(p.content) - len(rest)
		p.content, p.indent = rest, inner
		if p.isItem() || p.isKey() {
			items = append(items, p.block(inner))
			continue
		}
		items = append(items, p.scalar(rest, indent))
	}
	p.dedented(indent)
	return items
}

// dedented abandons the fast path unless the block ended with a less indented line.
func (p *parser) dedented(indent int) {
	if !p.eof && p.indent > indent {
		p.giveUp()
	}
}

// below parses the value on the lines after the current line.
func (p *parser) below(indent int, ofKey bool) any {
	p.next()
	switch {
	case p.eof || p.indent < indent:
		return nil
	case p.indent > indent:
		if !p.isItem() && !p.isKey() {
			p.giveUp()
		}
		return p.block(p.indent)
	case ofKey && p.isItem():
		return p.block(indent)
	}
	return nil
}

func (p *parser) mapping(indent int) any {
	out := map[string]any{}
	for !p.eof && p.indent == indent {
		if p.isItem() {
			break
		}
		key, rest, ok := p.key()
		if !ok {
			p.giveUp()
		}
		if _, twice := out[key]; twice {
			p.giveUp()
		}
		if len(rest) == 0 || rest[0] == '#' {
			out[key] = p.below(indent, true)
			continue
		}
		out[key] = p.scalar(rest, indent)
	}
	p.dedented(indent)
	return out
}

const maxKey = 256

func (p *parser) isKey() bool {
	_, _, ok := p.key()
	return ok
}

// key parses "name: rest" or "'name': rest".
func (p *parser) key() (key string, rest []byte, ok bool) {
	c := p.content
	end := 0
	if quote := c[0]; quote == '"' || quote == '\'' {
		if end = bytes.IndexByte(c[1:], quote); end < 0 || bytes.IndexByte(c[1:1+end], '\\') >= 0 {
			return "", nil, false
		}
		key = string(c[1 : 1+end])
		end += 2
	} else {
		for end < len(c) && keyByte(c[end]) {
			end++
		}
		if end == 0 || !letter(c[0]) || word(c[:end]) {
			return "", nil, false
		}
		key = string(c[:end])
	}
	if end > maxKey || end >= len(c) || c[end] != ':' || end+1 < len(c) && c[end+1] != ' ' {
		return "", nil, false
	}
	return key, bytes.TrimLeft(c[end+1:], " "), true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' }

func keyByte(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '/'
}
