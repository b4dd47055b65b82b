package untrusted

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Writer escapes untrusted text that is written to a report or to standard error. It accepts
// text, JSON, and XML. JSON keeps its meaning, and the output contains only characters that XML
// allows. Line breaks are passed. A Writer is safe for concurrent use.
type Writer struct {
	// Colors passes the colors of Paint.
	Colors bool

	mu    sync.Mutex
	w     io.Writer
	state *state
	held  []byte // an incomplete character at the end of the last write
	buf   []byte
}

// NewWriter returns a Writer that starts at the beginning of a line.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, state: newState()} }

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.w }

func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.colors = w.Colors
	all := text
	if len(w.held) > 0 {
		all = slices.Concat(w.held, text)
	}
	var rest []byte
	w.buf, rest = w.state.append(w.buf[:0], all)
	w.held = bytes.Clone(rest)
	if _, err := w.w.Write(w.buf); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Command writes a line that begins with the CI command, which it does not escape, followed by text
// on the same line.
func (w *Writer) Command(command, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	after := state{begin: inLine}
	w.buf, _ = after.append(append(w.buf[:0], command...), []byte(Line(text)))
	_, err := w.w.Write(append(w.buf, '\n'))
	return err
}

// A state describes the current line up to the next character, to detect commands in it.
//
// CI systems read commands in the log. GitHub's runner recognizes lines that begin with "::" after
// optional white space, and "##[" anywhere. Azure's agent recognizes "##vso[", and TeamCity
// "##teamcity[". See ActionCommand.cs of https://github.com/actions/runner.
type state struct {
	colors    bool
	begin     begin
	hashMarks hashMarks
}

type begin int

const (
	atBegin begin = iota // only white space so far
	oneColon
	inLine
)

type hashMarks int

const (
	noHash hashMarks = iota
	oneHash
	twoHashes // perhaps followed by letters
)

func newState() *state { return &state{} }

func (s *state) append(b, text []byte) (out, rest []byte) {
	for i := 0; i < len(text); {
		if n := s.plain(text[i:]); n > 0 {
			b = append(b, text[i:i+n]...)
			i += n
			continue
		}
		if s.colors {
			if n := paint(text[i:]); n > 0 {
				b = append(b, text[i:i+n]...)
				i += n
				continue
			}
		}
		if !utf8.FullRune(text[i:]) {
			return b, text[i:]
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n':
			b = append(b, '\n')
			s.begin, s.hashMarks = atBegin, noHash
		case r == utf8.RuneError && size == 1:
			b = appendByte(b, text[i])
			s.see('\\')
		case replaced(r) && r != utf8.RuneError || s.see(r):
			b = appendRune(b, r)
			s.see('\\')
		default:
			b = append(b, text[i:i+size]...)
		}
		i += size
	}
	return b, nil
}

// plain returns the number of bytes at the start of text that cannot begin or continue a command.
func (s *state) plain(text []byte) int {
	if s.begin != inLine || s.hashMarks != noHash {
		return 0
	}
	for i, c := range text {
		if c < ' ' || c > '~' || c == '#' {
			return i
		}
	}
	return len(text)
}

// see updates the state and reports whether r must be escaped because it would complete a command.
func (s *state) see(r rune) bool {
	if unicode.Is(unicode.M, r) {
		return false // some string comparisons ignore marks
	}
	command := false
	switch {
	case s.begin == oneColon && r == ':':
		command = true
		s.begin = inLine
	case s.begin == atBegin && r == ':':
		s.begin = oneColon
	case s.begin == atBegin && unicode.IsSpace(r):
	default:
		s.begin = inLine
	}
	switch {
	case s.hashMarks == twoHashes && r == '[':
		command = true
		s.hashMarks = noHash
	case r == '#':
		s.hashMarks = min(s.hashMarks+1, twoHashes)
	case s.hashMarks == twoHashes && unicode.IsLetter(r):
	default:
		s.hashMarks = noHash
	}
	return command
}
