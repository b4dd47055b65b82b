package decode

import "bytes"

// A reader reads a text line by line, without comments and empty lines. After a failure it is at the end of the text,
// so that all its loops end.
type reader struct {
	text   []byte
	at     int // of the next byte to read
	indent int // of the line, if at is the start of its content; or atEnd
	depth  int
	failed bool
	items  []any
	built  []byte
}

// atEnd is the indent after the last line. It is less than the indent of any line.
const atEnd = -1

// fast decodes the subset of YAML that is common in Kubernetes: block mappings and lists, flow collections on a single
// line, plain and quoted scalars, and literal blocks. For anything else, including errors, it returns false, and the
// library decodes the document from the start. The value does not share memory with text.
// fast reports no errors and does not determine which documents are valid.
func (r *reader) fast(text []byte) (v any, ok bool) {
	if !simple(text) {
		return nil, false
	}
	r.text = bytes.TrimPrefix(text, separatorLine)
	r.at, r.depth, r.failed = 0, 0, false
	r.next()
	if r.indent == 0 {
		v = r.block()
	} else {
		r.fail()
	}
	if r.failed || r.indent != atEnd {
		return nil, false
	}
	return v, true
}

var separatorLine = []byte("---\n")

// fail abandons the text. It returns nil as the value.
func (r *reader) fail() any {
	r.failed, r.at, r.indent = true, len(r.text), atEnd
	return nil
}

// next advances from the start of a line to the content of that line or of a later line.
func (r *reader) next() {
	text := r.text
	for i := r.at; i < len(text); {
		start := i
		for i < len(text) && text[i] == ' ' {
			i++
		}
		switch {
		case i == len(text):
		case text[i] == '\n':
			i++
		case text[i] == '#':
			i = r.lineAfter(i)
		default:
			if r.at, r.indent = i, i-start; i == start && isMarker(text[i:]) {
				r.fail()
			}
			return
		}
	}
	r.at, r.indent = len(text), atEnd
}

func isMarker(line []byte) bool {
	switch line[0] {
	case '%':
		return true
	case '-', '.':
		return len(line) > 2 && line[1] == line[0] && line[2] == line[0]
	}
	return false
}

func (r *reader) lineAfter(i int) int {
	if i < len(r.text) && r.text[i] == '\n' {
		return i + 1
	}
	if n := bytes.IndexByte(r.text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(r.text)
}

func (r *reader) spaceAt(i int) bool {
	return i == len(r.text) || r.text[i] == ' ' || r.text[i] == '\n'
}

func (r *reader) skipSpaces() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

// endLine advances from i, where a value ends, to the next line. It fails if more than a comment
// follows the value.
func (r *reader) endLine(i int) {
	end := i
	for end < len(r.text) && r.text[end] == ' ' {
		end++
	}
	if !r.spaceAt(end) && (r.text[end] != '#' || end == i) {
		r.fail()
		return
	}
	r.at = r.lineAfter(end)
	r.next()
}

func (r *reader) isItem() bool { return r.text[r.at] == '-' && r.spaceAt(r.at+1) }

const maxDepth = 100

// enter counts a list or a mapping, or any value in brackets. It reports false if there are too many.
func (r *reader) enter() bool {
	r.depth++
	return r.depth <= maxDepth
}

func (r *reader) block() any {
	if r.isItem() {
		return r.list(r.indent)
	}
	if key, ok := r.key(); ok {
		return r.mapping(r.indent, key)
	}
	return r.fail()
}

func (r *reader) list(indent int) any {
	if !r.enter() {
		return r.fail()
	}
	start := len(r.items)
	for r.indent == indent && r.isItem() {
		r.items = append(r.items, r.item(indent))
	}
	if r.indent > indent || r.failed {
		return r.fail()
	}
	r.depth--
	list := make([]any, len(r.items)-start)
	copy(list, r.items[start:])
	clear(r.items[start:])
	r.items = r.items[:start]
	return list
}

// The text after "- " is read like a line that is indented to its column.
func (r *reader) item(indent int) any {
	dash := r.at
	r.at++
	r.skipSpaces()
	if r.isBelow() {
		return r.below(indent, false)
	}
	inner := indent + r.at - dash
	if r.isItem() {
		r.indent = inner
		return r.list(inner)
	}
	if key, ok := r.key(); ok {
		return r.mapping(inner, key)
	}
	return r.scalar(indent)
}

func (r *reader) isBelow() bool {
	return r.at == len(r.text) || r.text[r.at] == '\n' || r.text[r.at] == '#'
}

func (r *reader) below(indent int, ofKey bool) any {
	r.at = r.lineAfter(r.at)
	r.next()
	switch {
	case r.indent > indent:
		return r.block()
	case ofKey && r.indent == indent && r.isItem():
		return r.list(indent)
	}
	return nil
}

// key is the first key, which was already read.
func (r *reader) mapping(indent int, key string) any {
	if !r.enter() {
		return r.fail()
	}
	out := map[string]any{}
	for n := 1; ; n++ {
		var value any
		if r.skipSpaces(); r.isBelow() {
			value = r.below(indent, true)
		} else {
			value = r.scalar(indent)
		}
		if out[key] = value; len(out) != n || r.indent > indent {
			return r.fail() // a duplicate key, or a line that belongs to nothing
		}
		if r.indent < indent || r.isItem() {
			r.depth--
			return out
		}
		var ok bool
		if key, ok = r.key(); !ok {
			return r.fail()
		}
	}
}

// maxKey is the length of the longest key. The limit of the library is larger.
const maxKey = 256

// key reads "name:" or "'name':". It returns false if the line does not begin with such a key.
func (r *reader) key() (key string, ok bool) {
	line := r.text[r.at:min(len(r.text), r.at+maxKey+1)]
	var name []byte
	end := 0
	if quote := line[0]; quote == '"' || quote == '\'' {
		for end = 1; end < len(line) && line[end] != quote; end++ {
			if c := line[end]; c == '\\' || c == '\n' {
				return "", false
			}
		}
		name = line[1:end]
		end++
	} else {
		for end < len(line) && keyByte[line[end]] {
			end++
		}
		if name = line[:end]; end == 0 || !letter(line[0]) || isWord(name) {
			return "", false
		}
	}
	if end >= len(line) || line[end] != ':' || !r.spaceAt(r.at+end+1) {
		return "", false
	}
	r.at += end + 1
	return string(name), true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' }

var keyByte = func() (is [256]bool) {
	for c := range is {
		is[c] = letter(byte(c)) || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '/'
	}
	return is
}()
