package position

import "strings"

// flow parses a collection in brackets. If the closing bracket is missing, the collection ends
// before the first line that is not indented beyond parent.
func (o *outline) flow(parent int) *Node {
	n := &Node{Kind: Sequence, Style: Flow, Tag: "!!seq", Start: o.at, Known: true, indent: int32(parent)}
	if o.text[o.at] == '{' {
		n.Kind, n.Tag = Mapping, "!!map"
	}
	if o.depth++; o.depth > maxOutlineDepth {
		o.at = len(o.text)
	}
	defer func() { o.depth-- }()
	o.at = min(o.at+1, len(o.text))
	n.End = o.at
	for {
		o.blanks()
		if o.at >= len(o.text) || o.outside(n, parent) {
			break
		}
		switch c := o.text[o.at]; {
		case c == ']' || c == '}':
			o.at++
			n.End = o.at
			n.indexed()
			return n
		case c == ',' || c == ':':
			o.at++
			continue
		}
		o.entry(n, parent)
		n.End = o.at
	}
	n.indexed()
	return n
}

func (o *outline) outside(n *Node, parent int) bool {
	if o.lineStart()+o.column() != o.at || o.lineStart() <= n.Start {
		return false
	}
	closes := o.text[o.at] == ']' || o.text[o.at] == '}'
	return !closes && o.column() <= parent
}

func (o *outline) entry(n *Node, parent int) {
	first := o.member(parent)
	if n.Kind == Sequence {
		n.append(nil, first)
		return
	}
	null := nothing(first.End, parent)
	at := skipBlank(o.text, o.at)
	if at < len(o.text) && o.text[at] == ':' {
		o.at = at + 1
		null = nothing(o.at, parent)
		if o.blanks(); o.at < len(o.text) && strings.IndexByte(",]}", o.text[o.at]) < 0 && !o.outside(n, parent) {
			null = o.member(parent)
		}
	}
	n.append(first, null)
}

func (o *outline) member(parent int) *Node {
	begin := o.at
	anchor, _ := o.properties()
	if o.at >= len(o.text) {
		o.at = len(o.text)
		return nothing(o.at, parent)
	}
	var n *Node
	switch c := o.text[o.at]; {
	case c == '[' || c == '{':
		n = o.flow(parent)
	case c == '*':
		n = o.alias()
	default:
		n = o.flowScalar(parent)
	}
	n.Begin, n.Anchor = begin, anchor
	if anchor != "" {
		o.anchors[anchor] = n
	}
	return n
}

// flowScalar parses a scalar in brackets, which ends on the line on which it starts.
func (o *outline) flowScalar(parent int) *Node {
	start := o.at
	line := o.text[start:lineEnd(o.text, start)]
	end := 0
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		end = flowClosing(line)
		if end < 0 {
			end = len(strings.TrimRight(line, " \t,"))
		}
	} else {
		for end < len(line) && strings.IndexByte(",]}[{", line[end]) < 0 && !(line[end] == ':' && (end+1 == len(line) || strings.IndexByte(" \t,]}", line[end+1]) >= 0)) {
			if line[end] == '#' && end > 0 && blank(line[end-1]) {
				break
			}
			end++
		}
		end = len(strings.TrimRight(line[:end], " \t"))
	}
	end = max(end, min(1, len(line)))
	o.at = start + end
	return o.scalar(start, o.at, parent)
}

// flowClosing returns the offset after the first closing quote that is followed by a closing
// bracket, a comma, a colon, a comment, or the end of the line. It returns -1 if no quote
// qualifies.
func flowClosing(line string) int {
	for i := 0; ; {
		end := closing(line, i)
		if end < 0 {
			return -1
		}
		rest := strings.TrimLeft(line[end:], " \t")
		if rest == "" || strings.IndexByte(",]}:#", rest[0]) >= 0 {
			return end
		}
		i = end - 1
	}
}

func (o *outline) header() bool {
	h := header(o.text, o.at)
	rest := strings.TrimLeft(o.text[h.end:h.line], " \t")
	return rest == "" || rest[0] == '#'
}

func (o *outline) block(parent int) *Node {
	start := o.at
	o.at = lineEnd(o.text, o.at)
	for o.at < len(o.text) {
		size, _ := lineBreak(o.text[o.at:])
		line := o.text[o.at+size : lineEnd(o.text, o.at+size)]
		text := strings.TrimLeft(line, " ")
		if text != "" && len(line)-len(text) <= parent || parent < 0 && (strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...")) {
			break
		}
		o.at += size + len(line)
	}
	if size, _ := lineBreak(o.text[o.at:]); size > 0 && o.at+size <= len(o.text) {
		o.at += size // the line break after the last line belongs to the scalar
	}
	return o.scalar(start, o.at, parent)
}

// goesOn returns the offset of the next line's text if it can continue a scalar in a collection at
// column parent, or -1.
func (o *outline) goesOn(end, parent int) int {
	next := end
	for {
		size, _ := lineBreak(o.text[next:])
		if size == 0 {
			break
		}
		for next += size; next < len(o.text) && blank(o.text[next]); next++ {
		}
	}
	at := outline{text: o.text, at: next}
	if next >= len(o.text) || next == end || at.column() <= parent || at.marker() {
		return -1
	}
	return next
}

// quoted parses up to the closing quote, which is the first quote at the end of a line. Without
// such a quote, the scalar ends with its lines, or is not quoted as a whole.
func (o *outline) quoted(parent int) *Node {
	start, quote := o.at, o.text[o.at]
	first := lineEnd(o.text, start)
	within := false // found a quote inside
	for i := start + 1; i < len(o.text); i++ {
		if n, _ := lineBreak(o.text[i:]); n > 0 {
			next := o.goesOn(i, parent)
			if next < 0 || within {
				o.at = i
				break
			}
			i = next - 1
			continue
		}
		switch c := o.text[i]; {
		case c == '\\' && quote == '"':
			if n, _ := lineBreak(o.text[i+1:]); n == 0 {
				i++
			}
		case c != quote:
		case quote == '\'' && strings.HasPrefix(o.text[i+1:], "'"):
			i++
		case o.endsLine(i + 1):
			o.at = i + 1
			return o.scalar(start, o.at, parent)
		case i > first:
			o.at = first // the quote belongs to another scalar
			return o.scalar(start, o.at, parent)
		default:
			within = true
		}
	}
	if within {
		o.at = start
		return o.plain(parent, true)
	}
	if o.at == start {
		o.at = len(o.text)
	}
	return o.scalar(start, o.at, parent)
}

func (o *outline) plain(parent int, inline bool) *Node {
	start := o.at
	end := o.plainEnd(start)
	for {
		next := o.goesOn(lineEnd(o.text, end), parent)
		if next < 0 || o.text[next] == '#' || end < len(strings.TrimRight(o.text[:lineEnd(o.text, end)], " \t")) {
			break
		}
		at := outline{text: o.text, at: next}
		if at.key() > 0 || at.dash() && !inline {
			break
		}
		end = o.plainEnd(next)
	}
	o.at = end
	return readScalar(o.text, start, end, parent, Plain)
}

func (o *outline) plainEnd(start int) int {
	line := o.text[start:lineEnd(o.text, start)]
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && blank(line[i-1]) {
			line = line[:i]
			break
		}
	}
	return start + len(strings.TrimRight(line, " \t"))
}
