package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

const (
	// maxObject is far above what a server takes; a JSON value that has not
	// ended there is cut off.
	maxObject = 16 << 20
	// maxDocument is how much of a YAML document is held; a List in YAML is one.
	maxDocument = 32 << 20
	// maxVain is how much of one input is looked at without finding the end of an
	// object, time and again from the next line on.
	maxVain = 128 << 20
	// maxUndecided is how much of a JSON object with items is held until its
	// kind, which may come last, says whether it is a List. No object is larger.
	maxUndecided = 4 << 20
	// maxFlow is the most that is tried as YAML when it begins like JSON and is
	// none.
	maxFlow = 1 << 20
)

// splitter cuts one input into chunks.
type splitter struct {
	file      string
	w         *window
	index     int  // of the next document
	afterJSON bool // no separator since the last JSON value
	vain      int
	yield     func(Chunk) bool
}

// run is false when yield had enough.
func (s *splitter) run() bool {
	if _, ok := s.w.at(2); ok && bytes.HasPrefix(s.w.rest(), bom) {
		s.w.skip(len(bom))
		s.w.before = 0
	}
	for {
		s.w.skipBlank()
		i, ok := s.w.blank(0)
		more := true
		switch {
		case !ok:
			return s.end()
		case s.w.rest()[i] == '{':
			s.w.skip(i)
			more = s.json()
		case s.afterJSON && !s.separatorAt(i):
			s.w.skip(i)
			line, _ := s.w.place(0)
			c, _ := s.w.at(0)
			more = s.bad(line, fmt.Errorf("not JSON: invalid character %q after an object", c))
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

// end reports that the input could not be read to its end.
func (s *splitter) end() bool {
	if s.w.err == nil {
		return true
	}
	return s.yield(Chunk{File: s.file, index: s.index, line: s.w.line, err: WithoutPath(s.w.err)})
}

func (s *splitter) separatorAt(i int) bool {
	n := s.w.lineEnd(i) // which may move what is in memory
	return decode.Separator(s.w.rest()[i : i+n])
}

// maxShown is how much of a line a message shows.
const maxShown = 40

// yaml takes what stands before the next separator, or else before objects in
// JSON that make no YAML of it.
func (s *splitter) yaml() bool {
	n, behind, brace, err := s.partEnd(maxDocument)
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
			n, behind = brace, 0
		}
	}
	line := s.w.line
	text := s.w.take(n)
	s.w.skip(behind)
	if blank(text) {
		return true
	}
	c := Chunk{File: s.file, form: yamlDocument, index: s.index, line: line, text: text}
	if first, _, _ := bytes.Cut(text, newline); decode.WrongSeparator(first) {
		c = Chunk{File: s.file, index: s.index, line: line, err: fmt.Errorf("%q begins no document: want --- alone on its line", preview.Bytes(string(first), maxShown))}
	}
	s.index++
	return s.yield(c)
}

var errLarge = errors.New("a YAML document of more than 32 MiB: want less, or JSON, of which a List is read item by item")

var errLongLine = errors.New("a line of more than 16 MiB: no object is that large")

// partEnd is how far the next separator is, and its length. Brace is the first
// line behind others that begins as an object in JSON does; it is looked behind
// for no longer than to see what is meant. On an error n is what was looked at.
func (s *splitter) partEnd(limit int) (n, behind, brace int, err error) {
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

// json takes the object at the window's start, or the items of a List.
func (s *splitter) json() bool {
	first := !s.afterJSON
	s.afterJSON = true
	o := object{splitter: s}
	end, err := o.members(0)
	switch {
	case o.stopped || errors.Is(err, errAbandoned):
		return !o.stopped
	case err != nil && o.streamed:
		return s.bad(s.w.line, fmt.Errorf("not JSON: behind the items of a List: %w", err))
	case err != nil:
		if s.inVain(end) {
			return true
		}
		return s.notJSON(end, err, first)
	case o.streamed:
		return true
	}
	line, column := s.w.place(0)
	c := Chunk{File: s.file, form: jsonValue, index: s.index, line: line, column: column}
	c.flow = first && s.flow(end)
	c.text = s.w.take(end)
	s.index++
	return s.yield(c)
}

// inVain counts what was looked at in vain, and gives up after too much: a file
// that is made for it would keep the reader busy for days.
func (s *splitter) inVain(n int) (gaveUp bool) {
	if s.vain += n; s.vain <= maxVain {
		return false
	}
	s.w.giveUp(errVain)
	return true
}

var errVain = errors.New("too many objects have no end: the rest is not read")

// flow is true where the object may be YAML that begins like JSON: it is alone
// in its document. A stream does not wait for what follows what is JSON, which
// is never taken for YAML.
func (s *splitter) flow(end int) bool {
	if s.w.r != nil && json.Valid(s.w.rest()[:end]) {
		return false
	}
	i, ok := s.w.blank(end)
	return !ok || s.separatorAt(i)
}

// notJSON reports that the value at the window's start is not JSON at an offset, unless it is YAML.
func (s *splitter) notJSON(end int, err error, first bool) bool {
	line, _ := s.w.place(0)
	if s.w.err != nil && err == errCut {
		s.w.skip(len(s.w.rest()))
		return true // the reading error is reported
	}
	if first {
		n, behind, _, _ := s.partEnd(maxFlow)
		text := s.w.rest()[:n]
		if n <= maxFlow {
			if _, _, err := decode.Decode(text); err == nil {
				s.afterJSON = false
				c := Chunk{File: s.file, form: yamlDocument, index: s.index, line: line, text: s.w.take(n)}
				s.w.skip(behind)
				s.index++
				return s.yield(c)
			}
		}
	}
	at, _ := s.w.place(min(end, len(s.w.rest())))
	return s.bad(line, &SyntaxError{at, fmt.Sprintf("not JSON: %v", err)})
}

// bad reports what stands at the window's start, and goes to the next line that
// begins an object or a document.
func (s *splitter) bad(line int, err error) bool {
	c := Chunk{File: s.file, index: s.index, line: line, err: err}
	s.index++
	s.resume()
	return s.yield(c)
}

// resume goes to the next line that begins an object or a document.
func (s *splitter) resume() {
	for {
		s.w.skipLine()
		if first, ok := s.w.at(0); !ok || first == '{' || s.separatorAt(0) {
			return
		}
	}
}

// leading counts the lines before a document's first of content.
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

// blank documents hold only comments and white space.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimLeftFunc(line, unicode.IsSpace); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
