package input

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// window is the part of an input that is in memory: buf[start:] is not yet
// given away.
type window struct {
	r     io.Reader // nil: all is in buf
	buf   []byte
	start int
	eof   bool
	err   error  // of reading, other than its end
	wait  func() // called before a read that may block

	line   int // of start, from 1
	before int // runes of the line before start that are given away
}

const readSize = 64 << 10

// maxFirst is how much of a file is in memory at once from the start.
const maxFirst = 4 << 20

func newWindow(r io.Reader, wait func()) *window {
	w := &window{r: r, line: 1, wait: wait}
	if size := min(sizeOf(r), maxFirst); size > 0 {
		w.buf = make([]byte, 0, size+2*readSize)
	}
	return w
}

func bytesWindow(data []byte) *window {
	return &window{buf: data, line: 1, eof: true}
}

// at is byte i after the window's start; ok is false at the input's end.
func (w *window) at(i int) (c byte, ok bool) {
	for w.start+i >= len(w.buf) {
		if !w.more() {
			return 0, false
		}
	}
	return w.buf[w.start+i], true
}

// rest is what is in memory.
func (w *window) rest() []byte { return w.buf[w.start:] }

// more reads on; false at the end.
func (w *window) more() bool {
	if w.eof {
		return false
	}
	w.wait()
	if w.start > 0 && w.start >= len(w.buf)/2 {
		w.buf = w.buf[:copy(w.buf, w.buf[w.start:])]
		w.start = 0
	}
	if cap(w.buf)-len(w.buf) < readSize {
		grown := make([]byte, len(w.buf), 2*cap(w.buf)+readSize)
		copy(grown, w.buf)
		w.buf = grown
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

// giveUp ends the input here, for a reason.
func (w *window) giveUp(err error) {
	w.buf, w.eof, w.err = w.buf[:w.start], true, err
}

// skip gives n bytes away.
func (w *window) skip(n int) {
	gone := w.buf[w.start : w.start+n]
	if lines := bytes.Count(gone, newline); lines > 0 {
		w.line += lines
		w.before = 0
		gone = gone[bytes.LastIndexByte(gone, '\n')+1:]
	}
	w.before += utf8.RuneCount(gone)
	w.start += n
}

// take gives n bytes away to the caller, who may keep them.
func (w *window) take(n int) []byte {
	text := w.buf[w.start : w.start+n : w.start+n]
	if w.r != nil {
		text = bytes.Clone(text) // the buffer is used again
	}
	w.skip(n)
	return text
}

// place is the line and column of byte i after the start, from 1.
func (w *window) place(i int) (line, column int) {
	ahead := w.buf[w.start : w.start+i]
	line, column = w.line, w.before
	if lines := bytes.Count(ahead, newline); lines > 0 {
		line, column = line+lines, 0
		ahead = ahead[bytes.LastIndexByte(ahead, '\n')+1:]
	}
	return line, column + utf8.RuneCount(ahead) + 1
}

var newline = []byte{'\n'}

// maxLine is far above what a line with an object in it has; what is longer is
// looked at in parts, lest a stream without line breaks fills the memory.
const maxLine = maxObject

// lineEnd is the length of the line at offset i, its line break included, or of
// a part of a line that is too long.
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

// maxPassed is how much is passed over in search of the end of a line.
const maxPassed = 256 << 20

var errEndless = errors.New("a line of more than 256 MiB: the rest is not read")

// skipLine gives the rest of the line away.
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

// skipBlank gives away lines of nothing but white space.
func (w *window) skipBlank() {
	for i := 0; ; i++ {
		switch c, ok := w.at(i); {
		case !ok:
			return
		case c == '\n', i == maxLine:
			w.skip(i + 1)
			i = -1
		case c != ' ' && c != '\t' && c != '\r':
			return
		}
	}
}
