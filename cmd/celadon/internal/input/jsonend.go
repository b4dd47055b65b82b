package input

import (
	"errors"
)

var (
	errCut     = errors.New("unexpected EOF")
	errBracket = errors.New("brackets do not match")
	errValue   = errors.New("unexpected value")
	errComma   = errors.New("unexpected comma")
	errString  = errors.New("line break in a string")
	errTooLong = errors.New("the end was not found")
)

// valueEnd returns the offset after the JSON value at offset i. It checks only brackets, strings, commas, and
// where objects and arrays may begin. That is enough to detect a truncated value before the next value is taken
// for a part of it. On an error, the offset is where reading stopped.
func (w *window) valueEnd(i, limit int) (int, error) {
	open := make([]byte, 0, 32)
	prev := byte(':')
	for buf := w.rest(); ; i++ {
		if i >= len(buf) {
			if _, ok := w.at(i); !ok {
				return i, errCut
			}
			buf = w.rest()
		}
		c := buf[i]
		if limit > 0 && i > limit {
			return i, errTooLong
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case ',':
			if prev == ',' || prev == ':' || prev == '[' || prev == '{' {
				return i, errComma
			}
		case '{', '[':
			if !mayBegin(prev, open) {
				return i, errValue
			}
			open = append(open, c)
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c-2 { // in ASCII, '{' and '[' precede their closing brackets by 2
				return i, errBracket
			}
			open = open[:len(open)-1]
		case '"':
			end, err := w.stringEnd(i)
			if err != nil {
				return end, err
			}
			i, buf = end-1, w.rest()
		}
		prev = c
		if len(open) == 0 {
			if c == '}' || c == ']' || c == '"' {
				return i + 1, nil
			}
			return w.wordEnd(i), nil
		}
	}
}

func mayBegin(prev byte, open []byte) bool {
	if len(open) == 0 || prev == ':' {
		return true
	}
	return open[len(open)-1] == '[' && (prev == '[' || prev == ',')
}

func (w *window) stringEnd(i int) (int, error) {
	i++
	for buf := w.rest(); ; i++ {
		for i < len(buf) && buf[i] != '"' && buf[i] != '\\' && buf[i] != '\n' {
			i++
		}
		if i >= len(buf) {
			if i > maxObject {
				return i, errTooLong
			}
			if _, ok := w.at(i); !ok {
				return i, errCut
			}
			buf = w.rest()
			i--
			continue
		}
		switch c := buf[i]; {
		case i > maxObject:
			return i, errTooLong
		case c == '"':
			return i + 1, nil
		case c == '\\':
			i++
		default:
			return i, errString
		}
	}
}

// wordEnd returns the offset after a number, true, false, or null. It is always greater than i.
func (w *window) wordEnd(i int) int {
	for i++; ; i++ {
		switch c, ok := w.at(i); {
		case !ok, i > maxObject, c == ',', c == ']', c == '}', c == ' ', c == '\t', c == '\r', c == '\n', c == '{', c == '[', c == '"':
			return i
		}
	}
}

// blank returns the offset of the first byte at or after i that is not JSON white space, and whether
// it found such a byte.
func (w *window) blank(i int) (int, bool) {
	for ; ; i++ {
		c, ok := w.at(i)
		if !ok || i > 2*maxObject {
			return i, false
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i, true
		}
	}
}
