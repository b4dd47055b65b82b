package position

import "strings"

type blockHeader struct {
	chomp  byte // '-', '+' or 0
	indent int  // 0 if detected from the text
	end    int  // offset after the indicators
	line   int  // offset of the end of the line, after a comment
}

func header(text string, at int) blockHeader {
	h := blockHeader{end: at + 1}
	for ; h.end < len(text); h.end++ {
		if c := text[h.end]; c == '-' || c == '+' {
			h.chomp = c
		} else if c >= '1' && c <= '9' {
			h.indent = int(c - '0')
		} else {
			break
		}
	}
	h.line = lineEnd(text, h.end)
	return h
}

func lineEnd(text string, i int) int {
	for i < len(text) {
		if n, _ := lineBreak(text[i:]); n > 0 {
			return i
		}
		i++
	}
	return i
}

// A gap is the sequence of line breaks between two lines of a block scalar.
type gap struct {
	text  string
	at    int // offset, at the end of the next line's indentation
	start []int
	col   int // column of at
}

// next consumes empty lines and indentation. If *indent is 0, next detects it.
func (g *gap) next(indent *int, parent int) {
	g.start = g.start[:0]
	widest := 0
	for {
		g.col = 0
		for g.at < len(g.text) && g.text[g.at] == ' ' && (*indent == 0 || g.col < *indent) {
			g.at++
			g.col++
		}
		widest = max(widest, g.col)
		n, _ := lineBreak(g.text[g.at:])
		if n == 0 {
			break
		}
		g.start = append(g.start, g.at)
		g.at += n
	}
	if *indent == 0 {
		*indent = max(widest, parent+1, 1)
	}
}

// parent is the column of the enclosing collection.
func (m *matcher) block(literal bool, parent int) bool {
	h := header(m.text, m.at)
	n, _ := lineBreak(m.text[h.line:])
	m.last = h.end
	g := gap{text: m.text, at: h.line + n}
	indent := 0
	if h.indent > 0 {
		indent = max(parent, 0) + h.indent
	}
	g.next(&indent, parent)
	before := -1 // offset of the line break before this line
	wide := false
	for g.col == indent && g.at < len(m.text) {
		line := g.at
		spaced := blank(m.text[line])
		if before >= 0 && !m.join(before, !literal && !wide && !spaced, len(g.start) > 0) || !m.empty(g.start) {
			return false
		}
		m.at = line
		if !m.matchSame(lineEnd(m.text, line) - line) {
			return false
		}
		wide, before, m.last = spaced, m.at, m.at
		n, _ := lineBreak(m.text[m.at:])
		g.at = m.at + n
		g.next(&indent, parent)
	}
	return m.chomp(h.chomp, before, g.start)
}

func (m *matcher) join(at int, folds, more bool) bool {
	m.at = at
	n, value := lineBreak(m.text[at:])
	if folds && value == "\n" {
		if value = " "; more {
			value = ""
		}
	}
	return m.matchAs(n, value)
}

func (m *matcher) empty(starts []int) bool {
	for _, at := range starts {
		m.at = at
		n, value := lineBreak(m.text[at:])
		if !m.matchAs(n, value) {
			return false
		}
	}
	return true
}

func (m *matcher) chomp(how byte, before int, starts []int) bool {
	if how != '-' && before >= 0 && !m.join(before, false, false) {
		return false
	}
	if how != '+' {
		return true
	}
	if len(starts) > 0 {
		m.last = starts[len(starts)-1]
	}
	return m.empty(starts)
}

// contentIndent returns the indentation of the first non-empty line of a block scalar, or -1 if all
// lines are empty.
func contentIndent(text string, n *Node) int {
	for i := header(text, n.Start).line; i < n.End; {
		size, _ := lineBreak(text[i:])
		line := text[i+size : lineEnd(text, i+size)]
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" {
			return len(line) - len(trimmed)
		}
		i += size + len(line)
	}
	return -1
}
