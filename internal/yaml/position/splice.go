package position

import (
	"fmt"
	"strings"
)

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
	free := strings.TrimSpace(p.d.text[old.End:lineEnd(p.d.text, old.End)]) == "" // a block would include the comment
	text := p.afterIndicator(s.value, s.in.column(p.d), blockContext{dash: s.in.Kind == Sequence, free: free, old: old})
	if old.Kind == Scalar || old.Kind == Alias || old.Style == Flow {
		if inline, ok := strings.CutPrefix(text, " "); ok && old.written() {
			return splice{old.Start, old.End, inline + p.headerComment(old, inline)}, nil
		}
		if !old.written() {
			if old.Begin < old.Start && old.Anchor == "" { // the value is only a tag
				return splice{old.Begin, old.End, strings.TrimPrefix(text, " ")}, nil
			}
			return splice{old.Start, old.End, text}, nil
		}
	}
	start := old.Begin
	for start > 0 && strings.IndexByte(" \t\r\n", p.d.text[start-1]) >= 0 {
		start--
	}
	if c := p.d.text[max(start-1, 0)]; c != ':' && c != '-' || old.Begin != old.Start {
		return splice{}, fmt.Errorf("%s: a comment, an anchor, or a tag precedes it: edit it by hand", p.d.lineText(old))
	}
	return splice{start, old.End, text}, nil
}

// headerComment returns the comment after the header of a block scalar, to be kept on the line that
// replaces the header.
func (p *plan) headerComment(old *Node, text string) string {
	if old.Kind != Scalar || old.Style != Literal && old.Style != Folded || text[0] == '|' {
		return ""
	}
	h := header(p.d.text, old.Start)
	return strings.TrimRight(p.d.text[h.end:h.line], " \t")
}

// column returns the zero-based column of a block collection's keys or dashes.
func (n *Node) column(d *Document) int { return d.Position(n.Start).Column - 1 }

func (p *plan) addBlock(to *Node, a addition) splice {
	col := to.column(p.d)
	line := "-" + p.afterIndicator(a.value, col, blockContext{dash: true, free: true})
	if a.key != nil {
		line = p.scalar(a.key, Plain) + ":" + p.afterIndicator(a.value, col, blockContext{free: true})
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

func (p *plan) dash(list *Node, i int) int {
	if i == 0 {
		return list.Start
	}
	return skipBlank(p.d.text, list.Items[i-1].End)
}

// tail returns the end of the last line of an entry, including following comments that are indented
// deeper than its key.
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

// more is set if another addition precedes it.
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

func (n *Node) first(i int) *Node {
	if n.Kind == Mapping {
		return n.Keys[i]
	}
	return n.Items[i]
}

// between returns the separator after the comma in a collection in brackets. If the last entry
// begins on its own line, so does the new one.
func (p *plan) between(n *Node) string {
	begin := n.first(len(n.Items) - 1).Begin
	blanks := strings.TrimRight(p.d.text[:begin], " \t")
	if strings.HasSuffix(blanks, "\n") {
		return p.eol + p.d.text[len(blanks):begin]
	}
	return " "
}

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
	return splice{len(before), end, ""} // if the text had no final line break, it still has none
}

func (p *plan) cutFlow(s *spot) splice {
	if s.at+1 < len(s.in.Items) {
		return splice{s.in.first(s.at).Begin, s.in.first(s.at + 1).Begin, ""}
	}
	before := max(s.in.Items[s.at-1].End, s.in.keyEnd(s.at-1))
	return splice{before, max(s.node().End, s.in.keyEnd(s.at)), ""}
}
