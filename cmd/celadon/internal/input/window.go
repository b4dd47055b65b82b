package input

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// A window is the part of an input that is in memory. buf[start:] is the part that has not been
// consumed. The data in buf never changes, because chunks share it.
type window struct {
	r     io.Reader // nil if all input is in buf
	buf   []byte
	start int
	eof   bool
	err   error  // from reading, except io.EOF, or from giveUp
	wait  func() // called before a read that may block

	line int // line of start, from 1
	// The line has before consumed characters, followed by the uncounted bytes before start. Few columns are needed,
	// so characters are counted on demand.
	before, uncounted int
}

const readSize = 64 << 10

// blockSize is the minimum capacity of a buffer.
const blockSize = 256 << 10

func newWindow(r io.Reader, wait func()) *window { return &window{r: r, line: 1, wait: wait} }

func bytesWindow(data []byte) *window {
	return &window{buf: data, line: 1, eof: true}
}

// at returns byte i after the window's start, or false at the end of the input. It may read, which can move the
// buffer.
func (w *window) at(i int) (c byte, ok bool) {
	for w.start+i >= len(w.buf) {
		if !w.more() {
			return 0, false
		}
	}
	return w.buf[w.start+i], true
}

func (w *window) rest() []byte { return w.buf[w.start:] }

// more reads more data. It returns false at the end of the input.
func (w *window) more() bool {
	if w.eof {
		return false
	}
	w.wait()
	if cap(w.buf)-len(w.buf) < readSize {
		w.before, w.uncounted = w.consumed(), 0
		rest := w.rest()
		w.buf = append(make([]byte, 0, max(blockSize, 2*len(rest)+readSize)), rest...)
		w.start = 0
	}
	n, err := w.r.Read(w.buf[len(w.buf) : len(w.buf)+readSize])
	w.buf = w.buf[:len(w.buf)+n]
	if err != nil {
		w.eof = true
		if !errors.Is(err, io.EOF) {
			w.err = err
		}
	}
	return n > 0 || !w.eof
}

func (w *window) giveUp(err error) {
	w.buf, w.eof, w.err = w.buf[:w.start], true, err
}

func (w *window) skip(n int) {
	gone := w.buf[w.start : w.start+n]
	w.start += n
	w.uncounted += n
	if n == 1 && gone[0] == '\n' {
		w.line++
		w.before, w.uncounted = 0, 0
		return
	}
	if lines := bytes.Count(gone, newline); lines > 0 {
		w.line += lines
		w.before, w.uncounted = 0, n-1-bytes.LastIndexByte(gone, '\n')
	}
}

func (w *window) consumed() int {
	return w.before + utf8.RuneCount(w.buf[w.start-w.uncounted:w.start])
}

// take consumes and returns n bytes, which the caller may keep but not modify.
func (w *window) take(n int) []byte {
	text := w.buf[w.start : w.start+n : w.start+n]
	w.skip(n)
	return text
}

// lineColumn returns the line and column of byte i after the window's start, both from 1.
func (w *window) lineColumn(i int) (line, column int) {
	ahead := w.buf[w.start : w.start+i]
	line, column = w.line, w.consumed()
	if lines := bytes.Count(ahead, newline); lines > 0 {
		line, column = line+lines, 0
		ahead = ahead[bytes.LastIndexByte(ahead, '\n')+1:]
	}
	return line, column + utf8.RuneCount(ahead) + 1
}

var newline = []byte{'\n'}

// maxLine is far longer than any line of an object. A longer line is read in parts, so that a stream
// without line breaks does not fill the memory.
const maxLine = maxObject

// lineEnd returns the length of the line at offset i with its line break, or at most maxLine. It may move the buffer.
func (w *window) lineEnd(i int) int {
	for from := i; ; {
		if n := bytes.IndexByte(w.rest()[from:], '\n'); n >= 0 {
			return min(from+n+1-i, maxLine)
		}
		if from = len(w.rest()); from-i >= maxLine {
			return maxLine
		}
		if !w.more() {
			return len(w.rest()) - i
		}
	}
}

// maxPassed limits how many bytes are skipped in search of the end of a line.
const maxPassed = 256 << 20

var errEndless = errors.New("a line of more than 256 MiB: the rest is not read")

func (w *window) skipLine() {
	for passed := 0; ; {
		n := w.lineEnd(0)
		w.skip(n)
		if n < maxLine || w.buf[w.start-1] == '\n' {
			return
		}
		if passed += n; passed > maxPassed {
			w.giveUp(errEndless)
			return
		}
	}
}

func (w *window) skipBlank() {
	for i := 0; ; i++ {
		switch c, ok := w.at(i); {
		case !ok:
			return
		case c == '\n', i == maxLine:
			w.skip(i + 1)
			i = -1
		case c != ' ' && c != '\r':
			return
		}
	}
}
