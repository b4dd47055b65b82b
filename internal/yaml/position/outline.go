package position

import "strings"

// How it works: the lines of a text that is not valid YAML are parsed by their indentation. The scalars are read
// (node.go) with the matcher, which then computes the value instead of comparing it with the parser's.

// ParseTolerant parses a text that may be invalid YAML because it is being edited. If the text is valid,
// ParseTolerant returns the result of Parse. Otherwise, it returns a document whose tree is derived from the
// indentation of the lines, for which Broken returns an error and Edit fails.
func ParseTolerant(text []byte) *Document {
	d, err := Parse(text)
	if err == nil {
		return d
	}
	d = &Document{text: string(text), broken: err}
	d.measure()
	d.Root = outlined(d.text)
	return d
}

// Broken returns the parser's error, or nil if the text is valid YAML.
func (d *Document) Broken() error { return d.broken }

// An outline parses invalid YAML by the indentation of its lines. It parses valid parts like a YAML
// parser. It interprets invalid parts as a human reader would: an unclosed quote ends with its line,
// a single word in a mapping is a key without a value, and a line that is indented too far belongs
// to the node above it.
type outline struct {
	text    string
	at      int
	depth   int
	anchors map[string]*Node
	// line is the offset of the line that contains seen. columns is the number of columns before
	// seen.
	line, seen, columns int
	returns             int
}

// maxReturns limits the number of brackets that are parsed a second time, because each can contain
// the whole source.
const maxReturns = 20

// maxOutlineDepth limits the nesting in invalid YAML, because each level can scan a line again.
const maxOutlineDepth = 500

func outlined(text string) *Node {
	o := &outline{text: text, at: len(text) - len(strings.TrimPrefix(text, bom)), anchors: map[string]*Node{}}
	o.blanks()
	for o.at < len(text) && (text[o.at] == '%' || o.marker()) {
		if !o.marker() {
			o.at = lineEnd(text, o.at)
		} else if o.at += len("---"); strings.HasPrefix(text[o.at-3:], "...") {
			break
		}
		o.blanks()
	}
	return o.value(-1, false)
}

func (o *outline) marker() bool {
	rest := o.text[o.at:]
	if o.column() != 0 || !strings.HasPrefix(rest, "---") && !strings.HasPrefix(rest, "...") {
		return false
	}
	return len(rest) == 3 || strings.IndexByte(" \t\r\n", rest[3]) >= 0
}

func (o *outline) blanks() { o.at = skipBlank(o.text, o.at) }

func (o *outline) lineStart() int { o.follow(); return o.line }

// Like the parser, column counts characters.
func (o *outline) column() int { o.follow(); return o.columns }

// follow counts columns up to the next byte. It continues from the last count, because a line can
// be as long as the text.
func (o *outline) follow() {
	if o.at < o.seen || o.seen == 0 {
		o.line = o.at
		for o.line > 0 && o.text[o.line-1] != '\n' && o.text[o.line-1] != '\r' {
			o.line--
		}
		if o.line == 0 {
			o.line = min(o.at, len(o.text)-len(strings.TrimPrefix(o.text, bom)))
		}
		o.seen, o.columns = o.line, 0
	}
	if i := strings.LastIndexAny(o.text[o.seen:o.at], "\n\r"); i >= 0 {
		o.line = o.seen + i + 1
		o.seen, o.columns = o.line, 0
	}
	o.columns += characters(o.text[o.seen:o.at])
	o.seen = o.at
}

func (o *outline) ended(parent int) bool {
	return o.at >= len(o.text) || o.column() <= parent || o.marker()
}

// value parses the value after a key's colon, after a dash, or at the root. parent is the column of
// the enclosing block collection. afterKey is set if no block collection can begin on this line.
func (o *outline) value(parent int, afterKey bool) *Node {
	start := o.at
	line := lineEnd(o.text, o.at)
	o.blanks()
	sameLine := o.at <= line
	if o.depth++; o.depth > maxOutlineDepth {
		o.at = len(o.text)
	}
	defer func() { o.depth-- }()
	// A list may have the same indentation as its key.
	list := afterKey && !sameLine && o.dash() && o.column() == parent
	if !list && o.ended(parent) {
		return nothing(start, parent)
	}
	return o.node(parent, afterKey && sameLine)
}

func (o *outline) node(parent int, inline bool) *Node {
	begin, line := o.at, lineEnd(o.text, o.at)
	anchor, end := o.properties()
	inline = inline && o.at <= line
	var n *Node
	if end > begin && o.ended(parent) {
		n = nothing(end, parent)
	} else {
		n = o.content(parent, inline)
	}
	n.Begin, n.Anchor = begin, anchor
	if anchor != "" {
		o.anchors[anchor] = n
	}
	return n
}

func (o *outline) properties() (anchor string, end int) {
	end = o.at
	for range 2 {
		if o.at >= len(o.text) || o.text[o.at] != '&' && o.text[o.at] != '!' {
			break
		}
		word := o.text[o.at:o.wordEnd()]
		if word[0] == '!' && len(word) > 1 && word[1] != '!' {
			break // a rule that begins with a negation
		}
		if word[0] == '&' {
			anchor = word[1:]
		}
		o.at += len(word)
		end = o.at
		o.blanks()
	}
	return anchor, end
}

func (o *outline) endsLine(at int) bool {
	i := at
	for i < len(o.text) && blank(o.text[i]) {
		i++
	}
	n, _ := lineBreak(o.text[i:])
	return i == len(o.text) || n > 0 || o.text[i] == '#' && i > at
}

func (o *outline) wordEnd() int {
	end := o.at
	for end < len(o.text) && strings.IndexByte(" \t,[]{}", o.text[end]) < 0 {
		if n, _ := lineBreak(o.text[end:]); n > 0 {
			break
		}
		end++
	}
	return end
}

func (o *outline) scalar(start, end, indent int) *Node {
	return readScalar(o.text, start, end, indent, styleOf(o.text[start:end]))
}

func (o *outline) content(parent int, inline bool) *Node {
	start := o.at
	switch {
	case !inline && o.dash():
		return o.sequence(parent)
	case !inline && (o.key() > 0 || o.keyBelow()):
		return o.mapping(parent)
	}
	switch c := o.text[o.at]; {
	case c == '[' || c == '{':
		n := o.flow(parent)
		if o.endsLine(n.End) || o.returns == maxReturns {
			return n
		}
		o.returns++
		o.at = start // the text only begins with a list
	case c == '*':
		return o.alias()
	case (c == '|' || c == '>') && o.header():
		return o.block(parent)
	case c == '"' || c == '\'':
		return o.quoted(parent)
	}
	return o.plain(parent, inline)
}

func (o *outline) alias() *Node {
	n := &Node{Kind: Alias, Start: o.at, Known: true}
	end := o.wordEnd()
	n.Value, n.End, o.at = o.text[o.at+1:end], end, end
	target := o.anchors[n.Value]
	if target == nil {
		n.Kind = Scalar // an unknown anchor
		n.Tag, n.limit = "!!str", int32(max(end, 1))
		n.Value = o.text[n.Start:end]
		return n
	}
	n.Tag, n.target = target.Tag, target
	return n
}

func (o *outline) dash() bool {
	rest := o.text[o.at:]
	return rest != "" && rest[0] == '-' && (len(rest) == 1 || strings.IndexByte(" \t\r\n", rest[1]) >= 0) && !o.marker()
}

func (o *outline) sequence(parent int) *Node {
	n := &Node{Kind: Sequence, Style: Block, Tag: "!!seq", Start: o.at, Known: true}
	for col := o.column(); o.at < len(o.text) && o.dash() && (o.column() == col || o.column() > parent); {
		col := o.column()
		o.at++
		n.End = o.at
		item := o.value(col, false)
		n.Items = append(n.Items, item)
		n.End = max(n.End, item.End)
		o.rest(n, col)
	}
	return n
}

// rest advances to the next line that is not indented further than the entries. Deeper lines that
// could not be parsed belong to the last entry.
func (o *outline) rest(n *Node, col int) {
	for {
		o.blanks()
		if o.ended(col) {
			return
		}
		if o.lineStart()+o.column() == o.at && (n.Kind == Mapping && o.key() > 0 || n.Kind == Sequence && o.dash()) {
			return // an entry that is indented too far
		}
		o.at = lineEnd(o.text, o.at)
	}
}

// key returns the length of the key at the next byte, including its colon, or 0 if no key starts
// there.
func (o *outline) key() int {
	rest := o.text[o.at:lineEnd(o.text, o.at)]
	i := 0
	switch {
	case rest == "" || strings.IndexByte("[{#|>%@`", rest[0]) >= 0:
		return 0
	case rest[0] == '"' || rest[0] == '\'':
		if i = closing(rest, 0); i < 0 {
			return 0
		}
		i += len(rest[i:]) - len(strings.TrimLeft(rest[i:], " \t"))
		if i < len(rest) && rest[i] == ':' && (i+1 == len(rest) || blank(rest[i+1])) {
			return i + 1
		}
		return 0
	}
	for ; i < len(rest); i++ {
		switch {
		case rest[i] == ':' && (i+1 == len(rest) || blank(rest[i+1])):
			return i + 1
		case rest[i] == '#' && blank(rest[i-1]):
			return 0
		}
	}
	return 0
}

// keyBelow reports whether the word at the next byte precedes a mapping, and so is probably an
// unfinished key.
func (o *outline) keyBelow() bool {
	if strings.IndexByte("[{|>*", o.text[o.at]) >= 0 {
		return false
	}
	next := outline{text: o.text, at: skipBlank(o.text, lineEnd(o.text, o.at))}
	return next.at < len(o.text) && next.column() == o.column() && !next.marker() && !next.dash() && next.key() > 0
}

// closing returns the offset after the quote that closes the quote at i, or -1.
func closing(line string, i int) int {
	quote := line[i]
	for i++; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 1
		}
	}
	return -1
}

func (o *outline) mapping(parent int) *Node {
	n := &Node{Kind: Mapping, Style: Block, Tag: "!!map", Start: o.at, Known: true}
	for col, first := o.column(), true; first || !o.ended(parent) && (!o.dash() || o.column() > col); first = false {
		key, item := o.pair()
		n.append(key, item)
		n.End = max(key.End, item.End)
		o.rest(n, col)
	}
	n.indexed()
	return n
}

func (o *outline) pair() (key, value *Node) {
	col, start := o.column(), o.at
	size := o.key()
	if size == 0 { // an unfinished key
		o.at = lineEnd(o.text, start)
		key = o.scalar(start, o.at, col)
		return key, nothing(key.End, col)
	}
	key = o.scalar(start, start+len(strings.TrimRight(o.text[start:start+size-1], " \t")), col)
	if key.Style == Plain && key.Value == "<<" {
		key.Tag = "!!merge"
	}
	o.at = start + size
	return key, o.value(col, true)
}

func nothing(at, indent int) *Node {
	return &Node{Kind: Scalar, Tag: "!!null", Begin: at, Start: at, End: at, Known: true, indent: int32(indent)}
}
