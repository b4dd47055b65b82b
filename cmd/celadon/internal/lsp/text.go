package lsp

import (
	"bytes"
	"errors"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// text is what a document says at one time. It does not change.
type text struct {
	bytes []byte

	once  sync.Once
	lines []int // where they begin

	// last is where position was last, since what asks goes on from there, and a line
	// may be all of a document.
	mu   sync.Mutex
	last struct {
		line, at int
		units    int64
	}

	fed   sync.Once
	feeds []int // where lines begin behind line feeds alone
}

func newText(s string) *text { return &text{bytes: []byte(s)} }

// starts are the offsets of the lines, which end as the protocol has it.
func (t *text) starts() []int {
	t.once.Do(func() {
		t.lines = []int{0}
		for i := 0; i < len(t.bytes); i++ {
			n := bytes.IndexAny(t.bytes[i:], "\r\n")
			if n < 0 {
				break
			}
			if i += n; t.bytes[i] == '\r' && i+1 < len(t.bytes) && t.bytes[i+1] == '\n' {
				i++
			}
			t.lines = append(t.lines, i+1)
		}
	})
	return t.lines
}

// lineEnd is where a line's text ends, without its end of line.
func (t *text) lineEnd(line int) int {
	starts := t.starts()
	if line+1 >= len(starts) {
		return len(t.bytes)
	}
	end := starts[line+1] - 1
	if end > starts[line] && t.bytes[end] == '\n' && t.bytes[end-1] == '\r' {
		end--
	}
	return end
}

// offset is where a position is; one beyond the line is the line's end, beyond the
// text the text's.
func (t *text) offset(p protocol.Position) int {
	starts := t.starts()
	if int64(p.Line) >= int64(len(starts)) {
		return len(t.bytes)
	}
	at, end := starts[p.Line], t.lineEnd(int(p.Line))
	for units := int64(p.Character); units > 0 && at < end; {
		r, n := utf8.DecodeRune(t.bytes[at:end])
		if units -= width(r); units < 0 {
			break // in the midst of a character: its begin
		}
		at += n
	}
	return at
}

// position is the place of an offset.
func (t *text) position(offset int) protocol.Position {
	starts := t.starts()
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
			break // within a character: its begin
		}
		units += width(r)
		at += n
	}
	t.last.line, t.last.at, t.last.units = line, at, units
	return protocol.Position{Line: uint32(line), Character: uint32(units)}
}

func (t *text) rangeOf(from, to int) protocol.Range {
	return protocol.Range{Start: t.position(from), End: t.position(max(from, to))}
}

// width is how many UTF-16 code units a character has.
func width(r rune) int64 {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

var errRange = errors.New("a range that ends before it begins")

// change is the text after a change; of one it cannot make nothing is made.
func (t *text) change(c protocol.Change) (*text, error) {
	if c.Range == nil {
		return newText(c.Text), nil
	}
	from, to := t.offset(c.Range.Start), t.offset(c.Range.End)
	if to < from {
		return t, errRange
	}
	out := make([]byte, 0, len(t.bytes)-(to-from)+len(c.Text))
	out = append(append(append(out, t.bytes[:from]...), c.Text...), t.bytes[to:]...)
	return &text{bytes: out}, nil
}

// feed is where a line begins, from 1, of which each ends with a line feed.
func (t *text) feed(line int) int {
	t.fed.Do(func() {
		t.feeds = []int{0}
		for i, c := range t.bytes {
			if c == '\n' {
				t.feeds = append(t.feeds, i+1)
			}
		}
	})
	if line > len(t.feeds) {
		return len(t.bytes)
	}
	return t.feeds[max(1, line)-1]
}

// place is where a line and a column are that count as reports do: lines end with a
// line feed, columns are characters from 1, 0 is the line's first word.
func (t *text) place(line, column int) int {
	from := t.feed(line)
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

// trimmedEnd is where the text of an offset's line ends, without white space.
func (t *text) trimmedEnd(offset int) int {
	line := t.position(offset).Line
	end := t.lineEnd(int(line))
	return end - len(t.bytes[offset:end]) + len(bytes.TrimRight(t.bytes[offset:end], " \t\r"))
}

// line is the range of a line's words.
func (t *text) line(line int) protocol.Range {
	from := t.place(max(1, line), 0)
	return t.rangeOf(from, t.trimmedEnd(from))
}
