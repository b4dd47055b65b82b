package position

import "strings"

// header reports whether a block scalar header begins at the next byte.
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

// plain parses a plain scalar: the rest of the line up to a comment, and its continuation lines.
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

// plainEnd returns the end of the text on a line, before a comment.
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
