package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common"
)

// Source is a text to be parsed. It answers as common.NewTextSource does, and
// keeps no second copy of the text. It is immutable.
type Source struct {
	text string
	// ascii is true where a byte is a character.
	ascii bool
	// lines are the offsets behind each line's end, in code points; of a text of
	// one line, the one offset is here, too.
	lines []int32
	one   [1]int32
}

var _ common.Source = &Source{}

// NewSource reads a text. Bytes that are no UTF-8 become U+FFFD.
func NewSource(text string) *Source {
	s := &Source{text: text, ascii: ascii(text)}
	if !s.ascii && !utf8.ValidString(text) {
		s.text = string([]rune(text))
	}
	s.lines = s.lineOffsets()
	return s
}

func ascii(text string) bool {
	all := byte(0)
	for ; len(text) >= 8; text = text[8:] {
		all |= text[0] | text[1] | text[2] | text[3] | text[4] | text[5] | text[6] | text[7]
	}
	for i := range len(text) {
		all |= text[i]
	}
	return all < utf8.RuneSelf
}

func (s *Source) lineOffsets() []int32 {
	lines, rest, offset := s.one[:0], s.text, int32(0)
	if s.text == "" {
		return append(lines, 0)
	}
	if n := strings.Count(s.text, "\n"); n > 0 {
		lines = make([]int32, 0, n+1)
	}
	for {
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			return append(lines, offset+s.width(rest)+1)
		}
		offset += s.width(rest[:end+1])
		lines, rest = append(lines, offset), rest[end+1:]
	}
}

// width counts code points.
func (s *Source) width(text string) int32 {
	if s.ascii {
		return int32(len(text))
	}
	return int32(utf8.RuneCountInString(text))
}

// Content is the text.
func (s *Source) Content() string { return s.text }

// Description is cel-go's name for a text that is in no file.
func (s *Source) Description() string { return "<input>" }

// LineOffsets are the offsets at which lines begin, from the second on, and one
// behind the end.
func (s *Source) LineOffsets() []int32 { return s.lines }

// LocationOffset is where a line and column are.
func (s *Source) LocationOffset(at common.Location) (int32, bool) {
	if start, ok := s.line(at.Line()); ok {
		return start + int32(at.Column()), true
	}
	return -1, false
}

// OffsetLocation is the line and column of an offset.
func (s *Source) OffsetLocation(offset int32) (common.Location, bool) {
	if offset == 0 && s.text != "" {
		return origin, true
	}
	return location(s.lines, offset), true
}

// origin is asked for at each parse.
var origin = common.NewLocation(1, 0)

// NewLocation is that line and column.
func (s *Source) NewLocation(line, col int) common.Location { return common.NewLocation(line, col) }

// Snippet is a line of the text.
func (s *Source) Snippet(line int) (string, bool) {
	if _, ok := s.line(line); !ok || s.text == "" {
		return "", false
	}
	rest := s.text
	for range line - 1 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	rest, _, _ = strings.Cut(rest, "\n")
	return rest, true
}

// line is the offset at which a line begins.
func (s *Source) line(line int) (int32, bool) {
	switch {
	case line == 1:
		return 0, true
	case line > 1 && line <= len(s.lines):
		return s.lines[line-2], true
	}
	return -1, false
}

// location is the line, from 1, and the column, from 0, of an offset.
func location(lines []int32, offset int32) common.Location {
	line, start := 1, int32(0)
	for _, next := range lines {
		if next > offset {
			break
		}
		line, start = line+1, next
	}
	return common.NewLocation(line, int(offset-start))
}
