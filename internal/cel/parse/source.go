package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common"
)

// A Source is the source of an expression. It behaves like the result of common.NewTextSource, but
// does not copy the text. It is immutable.
type Source struct {
	text  string
	ascii bool
	// lines is the result of LineOffsets. For a text of a single line, the offset is stored in one
	// to avoid an allocation.
	lines []int32
	one   [1]int32
}

var _ common.Source = &Source{}

// NewSource returns a source for text. Invalid UTF-8 is replaced by U+FFFD.
func NewSource(text string) *Source {
	s := &Source{text: text, ascii: ascii(text)}
	if !s.ascii && !utf8.ValidString(text) {
		s.text = string([]rune(text))
	}
	s.lines = s.lineOffsets()
	return s
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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

func (s *Source) width(text string) int32 {
	if s.ascii {
		return int32(len(text))
	}
	return int32(utf8.RuneCountInString(text))
}

// Content returns the text.
func (s *Source) Content() string { return s.text }

// Description returns cel-go's name for a source that is not a file.
func (s *Source) Description() string { return "<input>" }

// LineOffsets returns the offsets of all lines except the first, followed by the offset after the
// end.
func (s *Source) LineOffsets() []int32 { return s.lines }

// LocationOffset returns the offset of a line and column. ok is false if the line does not exist.
func (s *Source) LocationOffset(at common.Location) (int32, bool) {
	if start, ok := s.line(at.Line()); ok {
		return start + int32(at.Column()), true
	}
	return -1, false
}

// OffsetLocation returns the line and column of an offset.
func (s *Source) OffsetLocation(offset int32) (common.Location, bool) {
	if offset == 0 && s.text != "" {
		return origin, true
	}
	return location(s.lines, offset), true
}

// origin is allocated once because each parse requests it.
var origin = common.NewLocation(1, 0)

// NewLocation returns the given line and column as a location.
func (s *Source) NewLocation(line, col int) common.Location { return common.NewLocation(line, col) }

// Snippet returns a line without its line end. ok is false if the line does not exist or the source is empty.
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

func (s *Source) line(line int) (int32, bool) {
	switch {
	case line == 1:
		return 0, true
	case line > 1 && line <= len(s.lines):
		return s.lines[line-2], true
	}
	return -1, false
}

// location returns the line of an offset, counted from 1, and its column, counted from 0.
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
