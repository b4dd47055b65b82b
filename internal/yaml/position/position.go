package position

import (
	"sort"
	"strings"
)

// A Position is a position in a text. Both fields count from 1. Column counts characters.
type Position struct{ Line, Column int }

// Position returns the position of an offset. Lines end with a line feed. A byte order mark is not
// part of the first line.
func (d *Document) Position(offset int) Position {
	offset = min(max(offset, d.lines[0]), len(d.text))
	line := sort.SearchInts(d.lines, offset+1) - 1
	return Position{line + 1, d.count(offset) - d.count(d.lines[line]) + 1}
}

// Offset returns the offset of a line and column. Columns count characters. A column after the end
// of the line is taken as the end of the line, and a line after the end of the text as the end of
// the text.
func (d *Document) Offset(line, column int) int {
	if line > len(d.lines) {
		return len(d.text)
	}
	at, end := d.lines[max(line, 1)-1], len(d.text)
	if line < len(d.lines) {
		end = d.lines[max(line, 1)] - 1
		end -= len(d.text[at:end]) - len(strings.TrimSuffix(d.text[at:end], "\r"))
	}
	want := d.count(at) + max(column, 1) - 1
	mark := sort.SearchInts(d.marks, want+1) - 1
	at = max(at, min(mark*marked, end))
	for at < end && continues(d.text[at]) {
		at++
	}
	for c := d.count(at); at < end && c < want; c++ {
		at++
		for at < end && continues(d.text[at]) {
			at++
		}
	}
	return at
}

func continues(b byte) bool { return b&0xc0 == 0x80 }

// marked is the distance between offsets whose counts are cached. A line can be as long as the
// text, and many positions on it may be looked up.
const marked = 1 << 10

func (d *Document) count(offset int) int {
	return d.marks[offset/marked] + characters(d.text[offset/marked*marked:offset])
}

func characters(text string) (n int) {
	for i := range len(text) {
		if !continues(text[i]) {
			n++
		}
	}
	return n
}

func (d *Document) measure() {
	d.lines = []int{len(d.text) - len(strings.TrimPrefix(d.text, bom))}
	for i := 0; ; {
		n := strings.IndexByte(d.text[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		d.lines = append(d.lines, i)
	}
	n := 0
	for i := 0; i <= len(d.text); i += marked {
		d.marks = append(d.marks, n)
		n += characters(d.text[i:min(i+marked, len(d.text))])
	}
}

const bom = "\ufeff"

// lineBreak returns the length of the YAML 1.1 line break at the start of s, and its form in a
// value. The length is 0 if s does not start with a line break.
func lineBreak(s string) (n int, value string) {
	if s == "" {
		return 0, ""
	}
	switch s[0] {
	case '\n':
		return 1, "\n"
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return 2, "\n"
		}
		return 1, "\n"
	case 0xc2:
		if strings.HasPrefix(s, "\u0085") {
			return 2, "\n"
		}
	case 0xe2:
		if strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029") {
			return 3, s[:3]
		}
	}
	return 0, ""
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// skipBlank returns the first offset at or after i that is not white space, a line break, or part
// of a comment.
func skipBlank(text string, i int) int {
	for i < len(text) {
		if n, _ := lineBreak(text[i:]); n > 0 {
			i += n
			continue
		}
		switch {
		case blank(text[i]):
			i++
		case text[i] == '#':
			for i < len(text) {
				if n, _ := lineBreak(text[i:]); n > 0 {
					break
				}
				i++
			}
		default:
			return i
		}
	}
	return i
}
