package position

import "strings"

// outline reads a broken text by the indentation of its lines. It takes what is well
// written as a parser does; what is not, as what somebody who looks at it would take it
// for: a quote that is not closed ends with its line, a word in a mapping is a key
// without a value, a line that is indented too far belongs to what is above it.
type outline struct {
	text    string
	at      int // the next byte
	depth   int
	anchors map[string]*Node
	// line is where the line of the byte seen begins, columns are before that byte.
	line, seen, columns int
	// returns are the brackets so far that were read twice.
	returns int
}

// maxReturns is how many brackets are read twice: what is in them can be all of the text.
const maxReturns = 20

// looseDepth is how deep a broken text is read: each level may look at a line again.
const looseDepth = 500

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

// marker is true at a line that begins or ends a document.
func (o *outline) marker() bool {
	rest := o.text[o.at:]
	if o.column() != 0 || !strings.HasPrefix(rest, "---") && !strings.HasPrefix(rest, "...") {
		return false
	}
	return len(rest) == 3 || strings.IndexByte(" \t\r\n", rest[3]) >= 0
}

func (o *outline) blanks() { o.at = skipBlank(o.text, o.at) }

// lineStart is where the line of the next byte begins.
func (o *outline) lineStart() int { o.follow(); return o.line }

// column is that of the next byte, in characters as the parser's.
func (o *outline) column() int { o.follow(); return o.columns }

// follow counts columns up to the next byte. What was counted is not counted again: a
// line may be as long as the text.
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
	var c counts
	if i := strings.LastIndexAny(o.text[o.seen:o.at], "\n\r"); i >= 0 {
		o.line = o.seen + i + 1
		o.seen, o.columns = o.line, 0
	}
	c.add(o.text[o.seen:o.at])
	o.seen, o.columns = o.at, o.columns+c.runes
}

// ended is true where no value below a column goes on.
func (o *outline) ended(parent int) bool {
	return o.at >= len(o.text) || o.column() <= parent || o.marker()
}

// value reads what stands behind a key's colon, a dash or nothing; parent is the
// column of the block collection around it. behindKey is true where no block
// collection can begin on the line.
func (o *outline) value(parent int, behindKey bool) *Node {
	start := o.at
	line := lineEnd(o.text, o.at)
	o.blanks()
	sameLine := o.at <= line
	if o.depth++; o.depth > looseDepth {
		o.at = len(o.text)
	}
	defer func() { o.depth-- }()
	// A list may stand right below its key.
	list := behindKey && !sameLine && o.dash() && o.column() == parent
	if !list && o.ended(parent) {
		return nothing(start, parent)
	}
	return o.node(parent, behindKey && sameLine)
}

// node reads what stands at the next byte.
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

// properties reads an anchor and a tag, which end there.
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

// endsLine is true where nothing follows on a line but a comment.
func (o *outline) endsLine(at int) bool {
	i := at
	for i < len(o.text) && blank(o.text[i]) {
		i++
	}
	n, _ := lineBreak(o.text[i:])
	return i == len(o.text) || n > 0 || o.text[i] == '#' && i > at
}

// wordEnd is where the name of an anchor, alias or tag ends.
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

// scalar reads one in the style that it begins in.
func (o *outline) scalar(start, end, indent int) *Node {
	return reading{text: o.text}.scalar(start, end, indent, styleOf(o.text[start:end]))
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
		o.at = start // a list is what the text begins with
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
		n.Kind = Scalar // it stands for nothing that is known
		n.Tag, n.limit = "!!str", int32(max(end, 1))
		n.Value = o.text[n.Start:end]
		return n
	}
	n.Tag, n.rare = target.Tag, &rare{target: target}
	return n
}

// dash is true at an item of a list.
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

// rest goes to the next line that is not indented further than an entry; what is, and
// could not be read, belongs to the entry.
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

// key is how long the key is that stands at the next byte, with its colon; 0 where
// none does.
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

// keyBelow is true of a word in front of a mapping: a key that is being written.
func (o *outline) keyBelow() bool {
	if strings.IndexByte("[{|>*", o.text[o.at]) >= 0 {
		return false
	}
	next := outline{text: o.text, at: skipBlank(o.text, lineEnd(o.text, o.at))}
	return next.at < len(o.text) && next.column() == o.column() && !next.marker() && !next.dash() && next.key() > 0
}

// closing is behind the quote that closes the one at i; -1 where none does.
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

// pair reads a key and its value.
func (o *outline) pair() (key, value *Node) {
	col, start := o.column(), o.at
	size := o.key()
	if size == 0 { // it is being written
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

// nothing is a value that is not written.
func nothing(at, indent int) *Node {
	return &Node{Kind: Scalar, Tag: "!!null", Begin: at, Start: at, End: at, Known: true, indent: int32(indent)}
}
