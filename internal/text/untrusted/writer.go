package untrusted

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer is the last writer of a report, or of stderr. It takes text, JSON and
// XML: JSON stays the same document, and in XML stands what XML can hold. Line
// breaks pass. It is safe for concurrent use.
type Writer struct {
	// Colours lets the colours of Paint through.
	Colours bool

	mu    sync.Mutex
	w     io.Writer
	state *state
	held  []byte // the beginning of a character whose rest comes with the next text
	buf   []byte
}

// NewWriter makes one that begins at the start of a line.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, state: newState()} }

// Unwrap is where the text goes.
func (w *Writer) Unwrap() io.Writer { return w.w }

func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.colours = w.Colours
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

// Command writes a line that begins with a command of ours to who reads the log.
// The text behind it is kept in that line.
func (w *Writer) Command(own, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	behind := state{begin: inLine}
	w.buf, _ = behind.append(append(w.buf[:0], own...), []byte(Line(text)))
	_, err := w.w.Write(append(w.buf, '\n'))
	return err
}

// A CI system reads commands in the log: GitHub's runner takes a line that
// begins with "::" behind blanks, and "##[" anywhere in one; Azure's agent
// "##vso[", TeamCity "##teamcity[". See ActionCommand.cs of
// https://github.com/actions/runner.
//
// state is what stands before the next character in its line.
type state struct {
	colours bool
	begin   begin
	hash    hash
}

type begin int

const (
	atBegin begin = iota // there are only blanks
	oneColon
	inLine
)

type hash int

const (
	noHash hash = iota
	oneHash
	twoHashes // and perhaps letters
)

func newState() *state { return &state{} }

// append escapes text behind b. What is left is the beginning of a character.
func (s *state) append(b, text []byte) (out, rest []byte) {
	for i := 0; i < len(text); {
		if n := s.plain(text[i:]); n > 0 {
			b = append(b, text[i:i+n]...)
			i += n
			continue
		}
		if s.colours {
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
			s.begin, s.hash = atBegin, noHash
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

// plain counts the characters that no command can begin with or go on with.
func (s *state) plain(text []byte) int {
	if s.begin != inLine || s.hash != noHash {
		return 0
	}
	for i, c := range text {
		if c < ' ' || c > '~' || c == '#' {
			return i
		}
	}
	return len(text)
}

// see takes note of a character. It is true where it must not stand: it would
// make what is before it a command.
func (s *state) see(r rune) bool {
	if unicode.Is(unicode.M, r) {
		return false // some comparisons of texts pass over marks
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
	case s.hash == twoHashes && r == '[':
		command = true
		s.hash = noHash
	case r == '#':
		s.hash = min(s.hash+1, twoHashes)
	case s.hash == twoHashes && unicode.IsLetter(r):
	default:
		s.hash = noHash
	}
	return command
}
