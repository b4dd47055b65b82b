// Package vt provides a small terminal emulator for tests. It supports the sequences that the
// shell's line editor writes, and records all others.
package vt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// A Screen is the state of a terminal. It is safe for concurrent use.
type Screen struct {
	mu sync.Mutex
	// cells holds the rows of the screen, after the rows that scrolled out. The second cell of a wide
	// character is 0.
	cells       [][]rune
	scrolled    int
	width       int
	height      int
	row, column int  // of the cursor, from 0, on the screen
	full        bool // the cursor is after the last column; the next character wraps
	pending     []byte
	unknown     []string
}

// maxScrolled limits the number of rows that are kept after they scrolled out.
const maxScrolled = 500

// New returns an empty screen.
func New(width, height int) *Screen { return &Screen{width: width, height: height} }

// Resize changes the size. It neither cuts nor wraps rows.
func (s *Screen) Resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := s.row - height + 1; over > 0 {
		s.scrolled += over
		s.row -= over
	}
	s.width, s.height = width, height
	s.column, s.full = min(s.column, width-1), false
}

// Write implements io.Writer. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, p...)
	for len(s.pending) > 0 {
		n := s.step()
		if n == 0 {
			break
		}
		s.pending = s.pending[n:]
	}
	return len(p), nil
}

// step processes the first control or character in pending and returns its length, or 0 if it is incomplete.
func (s *Screen) step() int {
	switch c := s.pending[0]; c {
	case '\r':
		s.column, s.full = 0, false
	case '\n':
		s.full = false
		s.lineFeed()
	case '\b':
		s.column, s.full = max(0, s.column-1), false
	case '\t':
		s.column = min(s.width-1, s.column/8*8+8)
	case '\a':
	case 0x1b:
		return s.escape()
	default:
		if !utf8.FullRune(s.pending) {
			return 0
		}
		r, n := utf8.DecodeRune(s.pending)
		if r < ' ' || r == 0x7f {
			s.unknown = append(s.unknown, fmt.Sprintf("%q", r))
		} else {
			s.put(r)
		}
		return n
	}
	return 1
}

func (s *Screen) lineFeed() {
	if s.row < s.height-1 {
		s.row++
		return
	}
	s.scrolled++
	if over := s.scrolled - maxScrolled; over > 0 && len(s.cells) >= over {
		s.cells, s.scrolled = s.cells[over:], s.scrolled-over
	}
}

// The row has at least n cells.
func (s *Screen) at(n int) []rune {
	i := s.scrolled + s.row
	for len(s.cells) <= i {
		s.cells = append(s.cells, nil)
	}
	for len(s.cells[i]) < n {
		s.cells[i] = append(s.cells[i], ' ')
	}
	return s.cells[i]
}

func (s *Screen) put(r rune) {
	columns := termwidth.Width(string(r))
	if columns == 0 {
		return
	}
	if s.full || s.column+columns > s.width {
		s.column, s.full = 0, false
		s.lineFeed()
	}
	row := s.at(s.column + columns)
	row[s.column] = r
	if columns == 2 {
		row[s.column+1] = 0
	}
	s.column += columns
	if s.column >= s.width {
		s.column, s.full = s.width-1, true
	}
}

// escape returns the length of a CSI sequence, or 0 if it is incomplete.
func (s *Screen) escape() int {
	i := 2
	for ; i < len(s.pending); i++ {
		if c := s.pending[i]; c >= 0x40 && c <= 0x7e {
			break
		}
	}
	if i >= len(s.pending) {
		return 0
	}
	params, last := string(s.pending[2:i]), s.pending[i]
	n, err := strconv.Atoi(params)
	if err != nil {
		n = 1
	}
	switch {
	case s.pending[1] != '[':
		s.unknown = append(s.unknown, fmt.Sprintf("%q", s.pending[:2]))
		return 2
	case last == 'm' || params == "?2004":
	case last == 'A':
		s.row, s.full = max(0, s.row-n), false
	case last == 'B':
		s.row, s.full = min(s.height-1, s.row+n), false
	case last == 'C':
		s.column, s.full = min(s.width-1, s.column+n), false
	case last == 'D':
		s.column, s.full = max(0, s.column-n), false
	case last == 'H' && params == "":
		s.row, s.column, s.full = 0, 0, false
	case last == 'J' && params == "":
		s.cut(s.scrolled+s.row, s.column)
		for r := s.scrolled + s.row + 1; r < len(s.cells); r++ {
			s.cells[r] = nil
		}
	case last == 'J' && params == "2":
		for r := s.scrolled; r < len(s.cells); r++ {
			s.cells[r] = nil
		}
	case last == 'K' && params == "":
		s.cut(s.scrolled+s.row, s.column)
	default:
		s.unknown = append(s.unknown, fmt.Sprintf("%q", s.pending[:i+1]))
	}
	return i + 1
}

func (s *Screen) cut(row, column int) {
	if row < len(s.cells) && column < len(s.cells[row]) {
		s.cells[row] = s.cells[row][:column]
	}
}

// Rows returns the rows of the screen, without spaces at the end and without empty rows at the end.
func (s *Screen) Rows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows(s.scrolled)
}

// All returns the rows of the screen, after the last rows that scrolled out.
func (s *Screen) All() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows(0)
}

func (s *Screen) rows(from int) []string {
	var out []string
	for _, row := range s.cells[min(from, len(s.cells)):] {
		text := strings.ReplaceAll(string(row), "\x00", "")
		out = append(out, strings.TrimRight(text, " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// Cursor returns the row and column of the cursor on the screen, from 0.
func (s *Screen) Cursor() (row, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, s.column
}

// Unknown returns the controls that the emulator does not support.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unknown
}
