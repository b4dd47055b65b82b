package decode

import "bytes"

// flow parses a list or mapping in brackets that ends on its line, and advances to the next line.
func (p *parser) flow(s []byte, indent int) any {
	v, rest := p.inFlow(s)
	if after := bytes.TrimLeft(rest, " "); len(after) > 0 && (after[0] != '#' || rest[0] != ' ') {
		p.giveUp()
	}
	p.end(indent)
	return v
}

// inFlow parses a value in brackets and returns the text after it.
func (p *parser) inFlow(s []byte) (v any, rest []byte) {
	if p.depth++; p.depth > maxDepth || len(s) == 0 {
		p.giveUp()
	}
	defer func() { p.depth-- }()
	switch s[0] {
	case '[':
		return p.flowList(s[1:])
	case '{':
		return p.flowMapping(s[1:])
	case '"', '\'':
		return p.flowQuoted(s)
	}
	return p.flowPlain(s)
}

func (p *parser) flowList(s []byte) (v any, rest []byte) {
	items := []any{}
	if s = bytes.TrimLeft(s, " "); len(s) > 0 && s[0] == ']' {
		return items, s[1:]
	}
	for more := true; more; {
		v, s = p.inFlow(s)
		items = append(items, v)
		more, s = p.flowMore(s, ']')
	}
	return items, s
}

func (p *parser) flowMapping(s []byte) (v any, rest []byte) {
	out := map[string]any{}
	if s = bytes.TrimLeft(s, " "); len(s) > 0 && s[0] == '}' {
		return out, s[1:]
	}
	for more := true; more; {
		var key string
		key, s = p.flowKey(s)
		if _, twice := out[key]; twice {
			p.giveUp()
		}
		out[key], s = p.inFlow(s)
		more, s = p.flowMore(s, '}')
	}
	return out, s
}

// flowMore reports whether a comma follows, and returns the text after the comma or the closing
// bracket.
func (p *parser) flowMore(s []byte, end byte) (more bool, rest []byte) {
	switch s = bytes.TrimLeft(s, " "); {
	case len(s) > 0 && s[0] == end:
		return false, s[1:]
	case len(s) == 0 || s[0] != ',':
		p.giveUp()
	}
	return true, bytes.TrimLeft(s[1:], " ")
}

// flowKey parses "name: " or "'name':".
func (p *parser) flowKey(s []byte) (key string, rest []byte) {
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		v, rest := p.flowQuoted(s)
		if len(rest) == 0 || rest[0] != ':' || len(s)-len(rest) > maxKey {
			p.giveUp()
		}
		return v.(string), bytes.TrimLeft(rest[1:], " ")
	}
	end := 0
	for end < len(s) && keyByte(s[end]) {
		end++
	}
	if end == 0 || end > maxKey || !letter(s[0]) || word(s[:end]) || !bytes.HasPrefix(s[end:], []byte(": ")) {
		p.giveUp()
	}
	return string(s[:end]), bytes.TrimLeft(s[end+1:], " ")
}

// flowQuoted parses a quoted scalar that ends on its line.
func (p *parser) flowQuoted(s []byte) (v any, rest []byte) {
	quote := s[0]
	var b []byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote == '"':
			i++
			b = append(b, p.escape(s, i))
		case c != quote:
			b = append(b, c)
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
			b = append(b, c)
		default:
			return string(b), s[i+1:]
		}
	}
	p.giveUp()
	return nil, nil
}

// flowPlain parses a plain scalar without characters that have a special meaning anywhere in YAML.
func (p *parser) flowPlain(s []byte) (v any, rest []byte) {
	end := bytes.IndexAny(s, ",]}")
	if end < 0 {
		p.giveUp()
	}
	text := bytes.TrimRight(s[:end], " ")
	if len(text) == 0 || !keyByte(text[0]) && text[0] < 0x80 || text[0] == '-' && (len(text) == 1 || text[1] == ' ') || bytes.ContainsAny(text, "[{:#?&*!|>%@`'\"") {
		p.giveUp()
	}
	return p.resolve(string(text)), s[end:]
}
