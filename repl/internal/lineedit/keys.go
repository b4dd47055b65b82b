package lineedit

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Keys reads the bytes of a terminal and translates them to keys, encoded in UTF-8.
//
// A Ctrl-D that arrives while no line is being edited looks like the end of input, after which readline would stop
// reading. Keys converts it to the Ctrl-D character. It drops NUL, which readline also takes for the end of input, and
// other control characters without a meaning.
type Keys struct {
	in io.Reader
	// Gone is set after the end of input or an error.
	Gone atomic.Bool

	waiting atomic.Int64 // number of keys that were read but not taken
	ends    int
	raw     []byte // bytes that are not translated yet
	ready   []byte // translated bytes
	pasting bool   // between the marks of a bracketed paste
	newLine bool   // a tab here indents pasted text
	reading chan chunk
	err     error
}

type chunk struct {
	data []byte
	err  error
}

const (
	// maxEnds limits how many consecutive ends of input are treated as a key.
	maxEnds     = 3
	escapePause = 40 * time.Millisecond
	maxSequence = 32
	pastedTab   = "  "
)

// NewKeys returns Keys that read from in.
func NewKeys(in io.Reader) *Keys { return &Keys{in: in} }

// Take records that a key is being processed.
func (k *Keys) Take() { k.waiting.Add(-1) }

// Waiting reports whether more keys are waiting to be processed.
// During a paste, for example, a line need not be painted before the last key.
func (k *Keys) Waiting() bool { return k.waiting.Load() > 0 }

// Read implements io.Reader. It waits for a key or an error.
func (k *Keys) Read(p []byte) (int, error) {
	for len(k.ready) == 0 {
		if k.err != nil {
			return 0, k.err
		}
		k.fill()
	}
	n := copy(p, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

func (k *Keys) fill() {
	c, ok := k.next()
	if !ok { // the bytes so far do not continue
		k.translate(true)
		return
	}
	k.raw = append(k.raw, c.data...)
	switch {
	case len(c.data) > 0:
		k.ends = 0
	case errors.Is(c.err, io.EOF) && k.ends < maxEnds:
		k.ends++
		k.emit(KeyEOF)
		return
	}
	if c.err != nil && len(c.data) == 0 {
		k.err = c.err
		k.Gone.Store(true)
	}
	k.translate(c.err != nil)
}

// next returns the next chunk. It returns false if the bytes so far begin an escape sequence or a character that does
// not continue within escapePause. A later call then returns the result of the read.
func (k *Keys) next() (chunk, bool) {
	if k.reading == nil {
		done := make(chan chunk, 1)
		k.reading = done
		go func() {
			buf := make([]byte, 4096)
			n, err := k.in.Read(buf)
			done <- chunk{buf[:n], err}
		}()
	}
	var timeout <-chan time.Time
	if len(k.raw) > 0 {
		timeout = time.After(escapePause)
	}
	select {
	case c := <-k.reading:
		k.reading = nil
		return c, true
	case <-timeout:
		return chunk{}, false
	}
}

// translate translates the raw bytes. Unless end is set, it keeps an incomplete sequence at the end.
func (k *Keys) translate(end bool) {
	for len(k.raw) > 0 {
		n := k.key(end)
		if n == 0 {
			return
		}
		k.raw = k.raw[n:]
	}
}

// key translates the key at the beginning of the raw bytes and returns its length, or 0 if it is
// incomplete.
func (k *Keys) key(end bool) int {
	if k.raw[0] == escape {
		return k.escaped(end)
	}
	if !utf8.FullRune(k.raw) && !end {
		return 0
	}
	r, n := utf8.DecodeRune(k.raw)
	indents := k.newLine
	k.newLine = r == KeyEnter || r == KeyNewline || indents && (r == ' ' || r == KeyTab)
	switch {
	case r == KeyInterrupt:
		k.pasting = false // in case the end mark is lost
		k.emit(r)
	case r == KeyTab && (k.pasting || indents && !end && len(k.raw) > 1):
		k.emit([]rune(pastedTab)...)
	case r == utf8.RuneError && n == 1, r >= keyFirst && r <= keyLast, r == 0:
	case r < ' ' && (k.pasting && r != KeyEnter && r != KeyNewline || !strings.ContainsRune(controls, r)):
	case r > 0x7f && r < 0xa0: // C1 control characters
	default:
		k.emit(r)
	}
	if len(k.raw) == n && !k.pasting {
		k.newLine = false // a person types the next key
	}
	return n
}

const escape = 0x1b

const controls = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x10\x12\x14\x15\x17\x19\x1a"

func (k *Keys) emit(keys ...rune) {
	k.waiting.Add(int64(len(keys)))
	for _, r := range keys {
		k.ready = utf8.AppendRune(k.ready, r)
	}
}

func (k *Keys) escaped(end bool) int {
	if len(k.raw) == 1 && !end {
		return 0
	}
	key, n := rune(KeyEscape), 1
	if len(k.raw) > 1 {
		next := k.raw[1]
		if next == '[' || next == 'O' {
			n, complete := sequenceEnd(k.raw)
			switch {
			case complete:
				k.sequence(string(k.raw[2:n-1]), k.raw[n-1])
			case n == len(k.raw) && !end && n < maxSequence:
				return 0
			}
			return n
		}
		if alt, ok := altKeys[next]; ok {
			key, n = alt, 2
		}
	}
	if !k.pasting {
		k.emit(key)
	}
	return n
}

// sequenceEnd returns the length of the CSI or SS3 sequence that raw begins with. complete is false if the
// sequence is cut off or invalid.
func sequenceEnd(raw []byte) (n int, complete bool) {
	for i, b := range raw[2:] {
		switch {
		case b < ' ' || b > 0x7e || i > maxSequence:
			return i + 2, false
		case b >= 0x40:
			return i + 3, true
		}
	}
	return len(raw), false
}

var altKeys = map[byte]rune{'b': KeyWordLeft, 'f': KeyWordRight, 'd': KeyWordDelete, KeyBackspace: KeyWordErase, KeyErase: KeyWordErase}

func (k *Keys) sequence(params string, last byte) {
	switch {
	case last == '~' && params == "200":
		k.pasting = true
		k.emit(KeyPaste)
	case last == '~' && params == "201":
		k.pasting = false
	case k.pasting:
	case last == '~':
		if key, ok := tildeKeys[params]; ok {
			k.emit(key)
		}
	case strings.Contains(params, ";") && last == 'C':
		k.emit(KeyWordRight)
	case strings.Contains(params, ";") && last == 'D':
		k.emit(KeyWordLeft)
	default:
		if key, ok := letterKeys[last]; ok {
			k.emit(key)
		}
	}
}

var tildeKeys = map[string]rune{"1": KeyLineStart, "7": KeyLineStart, "4": KeyLineEnd, "8": KeyLineEnd, "3": KeyDelete}

var letterKeys = map[byte]rune{
	'A': KeyUp, 'B': KeyDown, 'C': KeyRight, 'D': KeyLeft, 'H': KeyLineStart, 'F': KeyLineEnd, 'Z': KeyBackTab,
}
