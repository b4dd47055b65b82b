package input

import "errors"

var (
	errCut     = errors.New("unexpected EOF")
	errBracket = errors.New("brackets do not match")
	errValue   = errors.New("a value begins where none can stand")
	errComma   = errors.New("a comma stands where a value must")
	errString  = errors.New("line break in a string")
	errTooLong = errors.New("no end found")
)

// valueEnd is the offset behind the JSON value at offset i. It looks only at
// brackets, strings and where values may begin: enough not to take what comes
// after a cut-off value for a part of it. The offset is where it stopped on an
// error.
func (w *window) valueEnd(i, limit int) (int, error) {
	var open []byte // the brackets around
	prev := byte(':')
	for ; ; i++ {
		c, ok := w.at(i)
		if !ok {
			return i, errCut
		}
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
			if len(open) == 0 || open[len(open)-1] != c-2 { // '{' and '[' are two before
				return i, errBracket
			}
			open = open[:len(open)-1]
		case '"':
			end, err := w.stringEnd(i)
			if err != nil {
				return end, err
			}
			i = end - 1
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

// stringEnd is the offset behind the string at offset i.
func (w *window) stringEnd(i int) (int, error) {
	for i++; ; i++ {
		c, ok := w.at(i)
		switch {
		case !ok:
			return i, errCut
		case i > maxObject:
			return i, errTooLong
		case c == '"':
			return i + 1, nil
		case c == '\\':
			i++
		case c == '\n':
			return i, errString
		}
	}
}

// wordEnd is the offset behind a number, true, false or null; it moves by at
// least one byte.
func (w *window) wordEnd(i int) int {
	for i++; ; i++ {
		switch c, ok := w.at(i); {
		case !ok, i > maxObject, c == ',', c == ']', c == '}', c == ' ', c == '\t', c == '\r', c == '\n', c == '{', c == '[', c == '"':
			return i
		}
	}
}

// blank skips JSON's white space from offset i on.
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
