package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

const (
	// maxObject is far larger than any object that a server accepts. A longer JSON value is considered truncated.
	maxObject = 16 << 20
	// maxDocument limits the size of a YAML document. A YAML List is one document.
	maxDocument = 32 << 20
	// maxFutile limits how many bytes of an input are read in searches for the end of an object that
	// fail. Such a search can start again at each line.
	maxFutile = 128 << 20
	// maxUndecided limits how much of a JSON object with items is held until its kind, which may come last, shows
	// whether it is a List. Only a List is larger.
	maxUndecided = 4 << 20
	// maxFlow limits the size of a value that begins like JSON, is not JSON, and is tried as YAML.
	maxFlow = 1 << 20
)

// A splitter divides an input into chunks. Its methods that yield chunks report whether to continue, which is
// false after yield returned false.
type splitter struct {
	file      string
	w         *window
	index     int
	afterJSON bool // no separator since the last JSON value
	futile    int
	yield     func(Chunk) bool
}

func (s *splitter) run() bool {
	if _, ok := s.w.at(2); ok && bytes.HasPrefix(s.w.rest(), bom) {
		s.w.skip(len(bom))
		s.w.before, s.w.uncounted = 0, 0
	}
	if s.w.r == nil && !suggestsObject(s.w.buf) {
		yield := s.yield
		s.yield = func(c Chunk) bool {
			c.unrelated = true
			return yield(c)
		}
	}
	for {
		s.w.skipBlank()
		if _, ok := s.w.at(0); !ok {
			return s.end()
		}
		// Tabs may precede JSON, but nothing in YAML.
		i, ok := s.w.blank(0)
		more := true
		switch {
		case !ok && s.afterJSON:
			return s.end()
		case ok && s.w.rest()[i] == '{':
			s.w.skip(i)
			more = s.json()
		case s.afterJSON && !s.separatorAt(i):
			s.w.skip(i)
			line, _ := s.w.lineColumn(0)
			c, _ := s.w.at(0)
			more = s.bad(line, &SyntaxError{line, fmt.Sprintf("not JSON: invalid character %q after an object", c)})
		default:
			more = s.yaml()
			s.afterJSON = false
		}
		if !more {
			return false
		}
	}
}

var bom = []byte("\ufeff")

func (s *splitter) end() bool {
	if s.w.err == nil {
		return true
	}
	return s.yield(Chunk{File: s.file, index: s.index, line: s.w.line, err: WithoutPath(s.w.err)})
}

func (s *splitter) separatorAt(i int) bool {
	n := s.w.lineEnd(i) // may move the window's buffer
	return decode.Separator(s.w.rest()[i : i+n])
}

const maxShown = 40

// yaml yields everything up to the next separator as a document. If a line in it begins like JSON, and it is large or
// not a YAML mapping, the document ends before that line.
func (s *splitter) yaml() bool {
	n, separator, brace, err := s.partEnd(maxDocument)
	if n > maxDocument {
		err = errLarge
	}
	if err != nil {
		line := s.w.line
		s.w.skip(n)
		return s.bad(line, err)
	}
	if brace > 0 {
		whole, _, err := decode.Decode(s.w.rest()[:n])
		if _, ok := whole.(map[string]any); n > maxUndecided || err != nil || !ok {
			n, separator = brace, 0
		}
	}
	line := s.w.line
	text := s.w.take(n)
	s.w.skip(separator)
	if blank(text) {
		return true
	}
	c := Chunk{File: s.file, form: yamlDocument, index: s.index, line: line, text: text}
	if first, _, _ := bytes.Cut(text, newline); decode.WrongSeparator(first) {
		c = Chunk{File: s.file, index: s.index, line: line, err: fmt.Errorf("%q does not start a document: want --- alone on its line", preview.Bytes(string(first), maxShown))}
	}
	s.index++
	return s.yield(c)
}

var errLarge = errors.New("a YAML document of more than 32 MiB: split it, or use JSON, where a List is read item by item")

var errLongLine = errors.New("a line of more than 16 MiB: objects cannot be that large")

// partEnd returns the length n of the part before the next separator, and the length of that separator, or 0.
// brace is the offset of the first line, after other content, that begins like a JSON object, or 0. With such a line,
// the part ends after the line that exceeds maxUndecided bytes, because JSON may follow. On an error, n is the number
// of bytes that were examined.
func (s *splitter) partEnd(limit int) (n, separator, brace int, err error) {
	content := false
	for {
		length := s.w.lineEnd(n)
		if length == 0 || n > limit || brace > 0 && n > maxUndecided {
			return n, 0, brace, nil
		}
		line := s.w.rest()[n : n+length]
		if length == maxLine {
			return n + length, 0, 0, errLongLine
		}
		if decode.Separator(line) {
			return n, length, brace, nil
		}
		if n > 0 && decode.WrongSeparator(line) {
			return n, 0, brace, nil
		}
		if brace == 0 && content && line[0] == '{' {
			brace = n
		}
		content = content || !blank(line)
		n += length
	}
}

func (s *splitter) json() bool {
	first := !s.afterJSON
	s.afterJSON = true
	o := object{splitter: s}
	end, err := o.members(1, true)
	switch {
	case o.stopped || errors.Is(err, errAbandoned):
		return !o.stopped
	case err != nil && o.streamed:
		return s.bad(s.w.line, fmt.Errorf("not JSON: after the items of a List: %w", err))
	case err != nil:
		if s.countFutile(end) {
			return true
		}
		return s.notJSON(end, err, first)
	case o.streamed:
		return true
	}
	line, column := s.w.lineColumn(0)
	c := Chunk{File: s.file, form: jsonValue, index: s.index, line: line, column: column}
	c.flow = first && s.flow(end)
	c.text = s.w.take(end)
	s.index++
	return s.yield(c)
}

// countFutile counts bytes that were read without finding the end of an object, and ends the input if there are
// too many. Otherwise a malicious file could keep the reader busy for days.
func (s *splitter) countFutile(n int) (giveUp bool) {
	if s.futile += n; s.futile <= maxFutile {
		return false
	}
	s.w.giveUp(errUnterminated)
	return true
}

var errUnterminated = errors.New("too many objects are unterminated: the rest is not read")

// flow reports whether the object may be YAML in flow style: it must be the only object in its document. In a
// stream, valid JSON is never taken for YAML, so that it can be yielded before more input arrives.
func (s *splitter) flow(end int) bool {
	if s.w.r != nil && json.Valid(s.w.rest()[:end]) {
		return false
	}
	i, ok := s.w.blank(end)
	return !ok || s.separatorAt(i)
}

// notJSON yields the value at the window's start as YAML if possible, and otherwise an error.
func (s *splitter) notJSON(end int, err error, first bool) bool {
	line, _ := s.w.lineColumn(0)
	if s.w.err != nil && err == errCut {
		s.w.skip(len(s.w.rest()))
		return true // end yields the reading error
	}
	if first {
		n, separator, _, _ := s.partEnd(maxFlow)
		text := s.w.rest()[:n]
		if n <= maxFlow {
			if _, _, err := decode.Decode(text); err == nil {
				s.afterJSON = false
				c := Chunk{File: s.file, form: yamlDocument, index: s.index, line: line, text: s.w.take(n)}
				s.w.skip(separator)
				s.index++
				return s.yield(c)
			}
		}
	}
	at, _ := s.w.lineColumn(min(end, len(s.w.rest())))
	return s.bad(line, &SyntaxError{at, fmt.Sprintf("not JSON: %v", err)})
}

func (s *splitter) bad(line int, err error) bool {
	c := Chunk{File: s.file, index: s.index, line: line, err: err}
	s.index++
	s.resume()
	return s.yield(c)
}

// resume skips to the next line that begins an object or a document.
func (s *splitter) resume() {
	for {
		s.w.skipLine()
		if first, ok := s.w.at(0); !ok || first == '{' || s.separatorAt(0) {
			return
		}
	}
}

// leading returns the number of blank lines and comments at the beginning of a document.
func leading(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			break
		}
		n++
	}
	return n
}

// blank reports whether a document contains only comments and the white space that YAML allows around
// them. Other white space, such as a tab, is an error or a value.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimLeft(line, " \r\n"); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
