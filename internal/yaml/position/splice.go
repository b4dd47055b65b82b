package position

import (
	"fmt"
	"strings"
)

// replace puts a value in place of old.
func (p *plan) replace(s *spot, old *Node) (splice, error) {
	if s.in.Style == Flow {
		text := p.inline(s.value)
		if !old.written() {
			if key := s.key(); key == nil || strings.Contains(p.d.text[key.End:old.Start], ":") {
				return splice{old.Start, old.End, " " + text}, nil
			}
			text = ": " + text
		}
		return splice{old.Start, old.End, text}, nil
	}
	free := strings.TrimSpace(p.d.text[old.End:lineEnd(p.d.text, old.End)]) == "" // a block would swallow a comment
	text := p.behind(s.value, s.in.column(p.d), place{dash: s.in.Kind == Sequence, free: free, old: old})
	if old.Kind == Scalar || old.Kind == Alias || old.Style == Flow {
		if inline, ok := strings.CutPrefix(text, " "); ok && old.written() {
			return splice{old.Start, old.End, inline + p.headerComment(old, inline)}, nil
		}
		if !old.written() {
			return splice{old.Start, old.End, text}, nil
		}
	}
	start := old.Begin
	for start > 0 && strings.IndexByte(" \t\r\n", p.d.text[start-1]) >= 0 {
		start--
	}
	if c := p.d.text[max(start-1, 0)]; c != ':' && c != '-' || old.Begin != old.Start {
		return splice{}, fmt.Errorf("%s: a comment, an anchor or a tag stands before it: edit it by hand", p.d.place(old))
	}
	return splice{start, old.End, text}, nil
}

// headerComment is what stands behind a block scalar's "|", for the line that
// takes its place.
func (p *plan) headerComment(old *Node, text string) string {
	if old.Kind != Scalar || old.Style != Literal && old.Style != Folded || text[0] == '|' {
		return ""
	}
	h := header(p.d.text, old.Start)
	return strings.TrimRight(p.d.text[h.end:h.line], " \t")
}

// column is where a block collection's keys or dashes stand, from 0.
func (n *Node) column(d *Document) int { return d.Position(n.Start).Column - 1 }

// addBlock adds a line, or lines, to a block collection.
func (p *plan) addBlock(to *Node, a addition) splice {
	col := to.column(p.d)
	line := "-" + p.behind(a.value, col, place{dash: true, free: true})
	if a.key != nil {
		line = p.scalar(a.key, Plain) + ":" + p.behind(a.value, col, place{free: true})
	}
	if a.at == 0 {
		at := to.Start
		return splice{at, at, line + p.eol + strings.Repeat(" ", col)}
	}
	if a.at < len(to.Items) && a.key == nil {
		at := p.dash(to, a.at)
		return splice{at, at, line + p.eol + strings.Repeat(" ", col)}
	}
	at := p.tail(to.Items[a.at-1], to.keyEnd(a.at-1), col)
	return splice{at, at, p.eol + strings.Repeat(" ", col) + line}
}

func (n *Node) keyEnd(i int) int {
	if n.Kind == Mapping {
		return n.Keys[i].End
	}
	return 0
}

// dash is the offset of an item's dash.
func (p *plan) dash(list *Node, i int) int {
	if i == 0 {
		return list.Start
	}
	return skipBlank(p.d.text, list.Items[i-1].End)
}

// tail is where the last line of an entry ends: comments that are indented more
// than its key are its own.
func (p *plan) tail(value *Node, keyEnd, col int) int {
	end := lineEnd(p.d.text, max(value.End, keyEnd))
	for at := end; ; {
		n, _ := lineBreak(p.d.text[at:])
		if n == 0 {
			return end
		}
		next := lineEnd(p.d.text, at+n)
		line := p.d.text[at+n : next]
		switch trimmed := strings.TrimLeft(line, " "); {
		case strings.TrimSpace(line) == "":
		case trimmed[0] == '#' && len(line)-len(trimmed) > col:
			end = next
		default:
			return end
		}
		at = next
	}
}

// addFlow adds to a collection in brackets; more says that another addition came
// before.
func (p *plan) addFlow(to *Node, a addition, more bool) splice {
	item := p.inline(a.value)
	if a.key != nil {
		item = p.flowKey(a.key) + ": " + item
	}
	switch {
	case len(to.Items) == 0 && more:
		return splice{to.Start + 1, to.Start + 1, ", " + item}
	case len(to.Items) == 0:
		return splice{to.Start + 1, to.Start + 1, item}
	case a.at == 0:
		at := to.first(0).Begin
		return splice{at, at, item + "," + p.between(to)}
	}
	at := max(to.Items[a.at-1].End, to.keyEnd(a.at-1))
	return splice{at, at, "," + p.between(to) + item}
}

// first is the node that an entry begins with.
func (n *Node) first(i int) *Node {
	if n.Kind == Mapping {
		return n.Keys[i]
	}
	return n.Items[i]
}

// between is what parts entries of a collection in brackets: where the last one
// begins a line, so does the next.
func (p *plan) between(n *Node) string {
	begin := n.first(len(n.Items) - 1).Begin
	blanks := strings.TrimRight(p.d.text[:begin], " \t")
	if strings.HasSuffix(blanks, "\n") {
		return p.eol + p.d.text[len(blanks):begin]
	}
	return " "
}

// cutBlock takes the lines of an entry.
func (p *plan) cutBlock(s *spot) splice {
	start := s.in.first(s.at).Begin
	if s.in.Kind == Sequence {
		start = p.dash(s.in, s.at)
	}
	text := p.d.text
	line := len(strings.TrimRight(text[:start], " "))
	if n := max(strings.LastIndexByte(text[:start], '\n')+1, p.d.lines[0]); line > n { // on the line of a dash
		if s.at+1 == len(s.in.Items) {
			return splice{start, p.tail(s.node(), s.in.keyEnd(s.at), s.in.column(p.d)), ""}
		}
		next := s.in.first(s.at + 1).Begin
		if s.in.Kind == Sequence {
			next = p.dash(s.in, s.at+1)
		}
		return splice{start, next, ""}
	}
	end := p.tail(s.node(), s.in.keyEnd(s.at), s.in.column(p.d))
	if n, _ := lineBreak(text[end:]); n > 0 {
		return splice{line, end + n, ""}
	}
	before := strings.TrimSuffix(strings.TrimSuffix(text[:line], "\n"), "\r")
	return splice{len(before), end, ""} // no line break at the end stays so
}

// cutFlow takes an entry of a collection in brackets with its comma.
func (p *plan) cutFlow(s *spot) splice {
	if s.at+1 < len(s.in.Items) {
		return splice{s.in.first(s.at).Begin, s.in.first(s.at + 1).Begin, ""}
	}
	before := max(s.in.Items[s.at-1].End, s.in.keyEnd(s.at-1))
	return splice{before, max(s.node().End, s.in.keyEnd(s.at)), ""}
}
