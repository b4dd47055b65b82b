package lsp

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// A text is an immutable version of a document's content.
type text struct {
	bytes []byte

	once  sync.Once
	lines []int // offsets at which lines begin, as in the protocol
	feeds []int // offsets at which lines of reports begin, which only end with line feeds

	// last is the most recent result of position, from which the next search continues. Requests are
	// usually in order, and a document may be a single line.
	mu   sync.Mutex
	last struct {
		line, at int
		units    int64
	}
}

func newText(s string) *text { return &text{bytes: []byte(s)} }

func (t *text) starts() (lines, feeds []int) {
	t.once.Do(func() {
		t.lines, t.feeds = []int{0}, []int{0}
		for i, c := range t.bytes {
			if c == '\n' {
				t.feeds = append(t.feeds, i+1)
			}
			if c == '\n' || c == '\r' && !bytes.HasPrefix(t.bytes[i+1:], []byte("\n")) {
				t.lines = append(t.lines, i+1)
			}
		}
	})
	return t.lines, t.feeds
}

func (t *text) lineEnd(line int) int {
	starts, _ := t.starts()
	if line+1 >= len(starts) {
		return len(t.bytes)
	}
	end := starts[line+1] - 1
	if end > starts[line] && t.bytes[end] == '\n' && t.bytes[end-1] == '\r' {
		end--
	}
	return end
}

// offset returns the offset of a position. A position after the end of a line or of the text is
// moved to that end.
func (t *text) offset(p protocol.Position) int {
	starts, _ := t.starts()
	if int64(p.Line) >= int64(len(starts)) {
		return len(t.bytes)
	}
	at, end := starts[p.Line], t.lineEnd(int(p.Line))
	for units := int64(p.Character); units > 0 && at < end; {
		r, n := utf8.DecodeRune(t.bytes[at:end])
		if units -= int64(utf16.RuneLen(r)); units < 0 {
			break // the position is within a character, so use its beginning
		}
		at += n
	}
	return at
}

func (t *text) position(offset int) protocol.Position {
	starts, _ := t.starts()
	offset = max(0, min(offset, len(t.bytes)))
	line := sort.SearchInts(starts, offset+1) - 1
	at, units := starts[line], int64(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.line == line && t.last.at >= at && t.last.at <= offset {
		at, units = t.last.at, t.last.units
	}
	for at < offset {
		r, n := utf8.DecodeRune(t.bytes[at:])
		if at+n > offset {
			break // the offset is within a character, so use its beginning
		}
		units += int64(utf16.RuneLen(r))
		at += n
	}
	t.last.line, t.last.at, t.last.units = line, at, units
	return protocol.Position{Line: uint32(line), Character: uint32(units)}
}

func (t *text) rangeOf(from, to int) protocol.Range {
	return protocol.Range{Start: t.position(from), End: t.position(max(from, to))}
}

// If c is invalid, change returns t and an error.
func (t *text) change(c protocol.Change) (*text, error) {
	if c.Range == nil {
		return newText(c.Text), nil
	}
	from, to := t.offset(c.Range.Start), t.offset(c.Range.End)
	if to < from {
		return t, errors.New("the range ends before it starts")
	}
	return &text{bytes: slices.Concat(t.bytes[:from], []byte(c.Text), t.bytes[to:])}, nil
}

// startOfLine returns the offset of a line, which is counted from 1 and ends with a line feed.
func (t *text) startOfLine(line int) int {
	_, feeds := t.starts()
	if line > len(feeds) {
		return len(t.bytes)
	}
	return feeds[max(1, line)-1]
}

// offsetAt returns the offset of a line and column as in reports: lines end with a line feed, columns
// are characters from 1, and column 0 is the line's first word.
func (t *text) offsetAt(line, column int) int {
	from := t.startOfLine(line)
	end := len(t.bytes)
	if n := bytes.IndexByte(t.bytes[from:], '\n'); n >= 0 {
		end = from + n
	}
	if column == 0 {
		return from + len(t.bytes[from:end]) - len(bytes.TrimLeft(t.bytes[from:end], " \t-"))
	}
	if from == 0 && bytes.HasPrefix(t.bytes, bom) {
		from = len(bom)
	}
	for ; column > 1 && from < end; column-- {
		_, n := utf8.DecodeRune(t.bytes[from:end])
		from += n
	}
	return from
}

var bom = []byte("\ufeff")

// trimmedEnd returns the end of the line at an offset, without trailing white space.
func (t *text) trimmedEnd(offset int) int {
	line := t.position(offset).Line
	end := t.lineEnd(int(line))
	return end - len(t.bytes[offset:end]) + len(bytes.TrimRight(t.bytes[offset:end], " \t\r"))
}

func (t *text) line(line int) protocol.Range {
	from := t.offsetAt(max(1, line), 0)
	return t.rangeOf(from, t.trimmedEnd(from))
}
