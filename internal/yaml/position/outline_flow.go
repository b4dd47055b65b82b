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

// outside reports whether the current line is not part of the brackets of n.
func (o *outline) outside(n *Node, parent int) bool {
	if o.lineStart()+o.column() != o.at || o.lineStart() <= n.Start {
		return false
	}
	closes := o.text[o.at] == ']' || o.text[o.at] == '}'
	return !closes && o.column() <= parent
}

// entry parses an item, or a key and its value.
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

// member parses a value or key.
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
