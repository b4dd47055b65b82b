package lineedit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// A Frame is a prompt, a line, and lines below it, as a Screen displays them.
type Frame struct {
	// Prompt and Text contain no control characters. Text is the line.
	Prompt, Text string
	// Bold is set if the prompt is bold.
	Bold bool
	// Pos is the number of characters of the line before the cursor.
	Pos int
	// Below returns at most height lines to display below the line, each at most width columns wide. It can
	// be nil.
	Below func(width, height int) []string
	// Entered is set if the line is complete: the cursor moves to the next row.
	Entered bool
}

// A Screen paints frames. It is also the writer of readline, for bells and for clearing the screen. A
// Screen is safe for concurrent use.
type Screen struct {
	out  io.Writer
	size func() (width, height int)

	mu sync.Mutex
	// frame is the last frame, and below are the lines below it. painted is set while the cursor is
	// in the frame.
	frame   Frame
	below   []string
	painted bool
}

// NewScreen returns a Screen that writes to out. size returns the size of the terminal, or 0 if it is
// unknown.
func NewScreen(out io.Writer, size func() (width, height int)) *Screen {
	return &Screen{out: out, size: size}
}

// Paint replaces the last frame by f.
func (s *Screen) Paint(f Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	s.erase(&b)
	s.frame = f
	s.paint(&b)
	_, _ = s.out.Write(b.Bytes())
}

// Write implements io.Writer for readline. It passes bells on, clears the screen, and ignores the
// rest.
func (s *Screen) Write(p []byte) (int, error) {
	switch string(p) {
	case "\a":
		return len(p), s.Bell()
	case "\x1b[H":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.painted = false
		_, err := io.WriteString(s.out, "\x1b[H\x1b[2J")
		return len(p), err
	}
	return len(p), nil
}

// Bell rings the terminal's bell.
func (s *Screen) Bell() error {
	_, err := io.WriteString(s.out, "\a")
	return err
}

// Clear erases the frame.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	s.erase(&b)
	_, _ = s.out.Write(b.Bytes())
}

// erase counts the rows above the cursor for the current width, because terminals wrap lines again after a resize.
func (s *Screen) erase(b *bytes.Buffer) {
	if !s.painted {
		return
	}
	s.painted = false
	width, height := s.size()
	l := s.frame.layout(width)
	l.window(height - len(s.below))
	if l.cursorRow > 0 {
		fmt.Fprintf(b, "\x1b[%dA", l.cursorRow)
	}
	b.WriteString("\r\x1b[J")
}

func (s *Screen) paint(b *bytes.Buffer) {
	width, height := s.size()
	l := s.frame.layout(width)
	s.below = nil
	if s.frame.Below != nil && !s.frame.Entered && width > 1 && height > 1 {
		s.below = s.frame.Below(width-1, max(height-l.total(), height/2))
	}
	l.window(height - len(s.below))
	for _, row := range l.rows {
		b.WriteString(row)
	}
	if s.frame.Entered {
		b.WriteByte('\n')
		return
	}
	s.painted = true
	if l.edge {
		b.WriteString(" \b") // wraps now
	}
	for _, line := range s.below {
		b.WriteString("\n" + line)
	}
	if up := l.total() - 1 - l.cursorRow + len(s.below); up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if l.cursorColumn > 0 {
		fmt.Fprintf(b, "\x1b[%dC", l.cursorColumn)
	}
}

type layout struct {
	rows                    []string
	cursorRow, cursorColumn int
	// edge is set if the last row is full. The cursor can then be in the empty row after it.
	edge bool
}

func (l *layout) total() int {
	if l.edge {
		return len(l.rows) + 1
	}
	return len(l.rows)
}

// window keeps at most height rows, around the cursor. A height below 1 is unknown.
func (l *layout) window(height int) {
	total := l.total()
	if height < 1 || total <= height {
		return
	}
	first := min(max(0, l.cursorRow-height/2), total-height)
	last := first + height
	l.edge = l.edge && last == total
	if l.edge {
		last--
	}
	l.rows = l.rows[min(first, len(l.rows)):last]
	l.cursorRow -= first
}

const unbounded = 1 << 20

func (f *Frame) layout(width int) *layout {
	if width <= 0 {
		width = unbounded
	}
	l, column := &layout{}, 0
	var row strings.Builder
	breakRow := func() {
		l.rows = append(l.rows, row.String())
		row.Reset()
		column = 0
	}
	mark := func() { l.cursorRow, l.cursorColumn = len(l.rows), column }
	write := func(text string, cursor int) {
		for n, r := range []rune(text) {
			columns := 1
			if r > 0x7e {
				columns = min(termwidth.Width(string(r)), width)
			}
			if column+columns > width {
				breakRow()
			}
			if n == cursor {
				mark()
			}
			row.WriteRune(r)
			column += columns
		}
	}
	if f.Bold {
		row.WriteString("\x1b[1m")
	}
	write(f.Prompt, -1)
	if f.Bold {
		row.WriteString("\x1b[0m")
	}
	if write(f.Text, f.Pos); f.Pos >= utf8.RuneCountInString(f.Text) {
		mark()
	}
	l.edge = column == width
	if l.cursorColumn == width { // after a full row
		l.cursorRow, l.cursorColumn = l.cursorRow+1, 0
	}
	breakRow()
	return l
}
