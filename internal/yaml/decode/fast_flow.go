package decode

import "bytes"

// flow reads a list or mapping in brackets that ends on its line, and advances to the next line.
func (r *reader) flow() any {
	v, rest := r.inFlow(r.restOfLine())
	if after := bytes.TrimLeft(rest, " "); len(after) > 0 && (after[0] != '#' || rest[0] != ' ') {
		return r.fail()
	}
	r.next()
	return v
}

func (r *reader) inFlow(s []byte) (v any, rest []byte) {
	if len(s) == 0 || !r.enter() {
		return r.fail(), nil
	}
	switch s[0] {
	case '[':
		v, rest = r.flowList(s[1:])
	case '{':
		v, rest = r.flowMapping(s[1:])
	case '"', '\'':
		v, rest = r.flowQuoted(s)
	default:
		v, rest = r.flowPlain(s)
	}
	r.depth--
	return v, rest
}

func (r *reader) flowList(s []byte) (v any, rest []byte) {
	if s = bytes.TrimLeft(s, " "); len(s) > 0 && s[0] == ']' {
		return []any{}, s[1:]
	}
	items := []any{}
	for more := true; more; {
		v, s = r.inFlow(s)
		items = append(items, v)
		more, s = r.flowMore(s, ']')
	}
	return items, s
}

func (r *reader) flowMapping(s []byte) (v any, rest []byte) {
	out := map[string]any{}
	if s = bytes.TrimLeft(s, " "); len(s) > 0 && s[0] == '}' {
		return out, s[1:]
	}
	n := 0
	for more := true; more; n++ {
		var key string
		key, s = r.flowKey(s)
		out[key], s = r.inFlow(s)
		more, s = r.flowMore(s, '}')
	}
	if len(out) != n {
		return r.fail(), nil
	}
	return out, s
}

func (r *reader) flowMore(s []byte, end byte) (more bool, rest []byte) {
	switch s = bytes.TrimLeft(s, " "); {
	case len(s) > 0 && s[0] == ',':
		return true, bytes.TrimLeft(s[1:], " ")
	case len(s) > 0 && s[0] == end:
		return false, s[1:]
	}
	r.fail()
	return false, nil
}

// flowKey reads "name: " or "'name':".
func (r *reader) flowKey(s []byte) (key string, rest []byte) {
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		v, rest := r.flowQuoted(s)
		if key, ok := v.(string); ok && len(rest) > 0 && rest[0] == ':' && len(s)-len(rest) <= maxKey {
			return key, bytes.TrimLeft(rest[1:], " ")
		}
		r.fail()
		return "", nil
	}
	end := 0
	for end < len(s) && keyByte[s[end]] {
		end++
	}
	if end == 0 || end > maxKey || !letter(s[0]) || isWord(s[:end]) || !bytes.HasPrefix(s[end:], keyEnd) {
		r.fail()
		return "", nil
	}
	return string(s[:end]), bytes.TrimLeft(s[end+1:], " ")
}

func (r *reader) flowQuoted(s []byte) (v any, rest []byte) {
	quote := s[0]
	r.built = r.built[:0]
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote == '"':
			if i++; i == len(s) || escapes[s[i]] == 0 {
				return r.fail(), nil
			}
			r.built = append(r.built, escapes[s[i]])
		case c != quote:
			r.built = append(r.built, c)
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
			r.built = append(r.built, c)
		default:
			return string(r.built), s[i+1:]
		}
	}
	return r.fail(), nil
}

// flowPlain reads a plain scalar without characters that have a special meaning anywhere in YAML.
func (r *reader) flowPlain(s []byte) (v any, rest []byte) {
	end := bytes.IndexAny(s, ",]}")
	if end < 0 {
		return r.fail(), nil
	}
	text := bytes.TrimRight(s[:end], " ")
	if len(text) == 0 || !keyByte[text[0]] && text[0] < 0x80 || text[0] == '-' && (len(text) == 1 || text[1] == ' ') || bytes.ContainsAny(text, "[{:#?&*!|>%@`'\"") {
		return r.fail(), nil
	}
	return r.resolve(text), s[end:]
}
