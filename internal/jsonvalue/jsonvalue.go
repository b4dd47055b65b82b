// Package jsonvalue decodes JSON objects as sigs.k8s.io/json does, in a single pass.
//
//	obj, ok := jsonvalue.Object(text)
//	if !ok {
//		// Decode text with sigs.k8s.io/json, which reports errors and duplicate keys.
//	}
//
// Object accepts a text only if it is certain that sigs.k8s.io/json returns the same values for it and
// reports neither errors nor duplicates. The text may be untrusted.
package jsonvalue

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/text/jsontext"
)

// How it works: sigs.k8s.io/json scans each value three times, as encoding/json does: to check the
// syntax of the whole text, to find the end of each literal, and to convert it. decoder scans it once.
// A text with an error is decoded again by the library, so decoder needs no positions and no messages.
// Strings share the memory of one copy of the text.

// maxDepth limits the nesting that Object accepts. It is far below the limit of the library.
const maxDepth = 500

// Object decodes a JSON object: integers become int64 and other numbers float64. It returns false if
// text is not an object, has a syntax error or a duplicate key, or is unusual in another way, such as
// a number that kubectl would write differently. Strings in the result may share the memory of one
// copy of text.
func Object(text []byte) (obj map[string]any, ok bool) {
	d := decoder{text: string(text)}
	d.skipSpace()
	if d.at == len(d.text) || d.text[d.at] != '{' {
		return nil, false
	}
	obj, ok = d.object()
	d.skipSpace()
	if !ok || d.at != len(d.text) {
		return nil, false
	}
	return obj, true
}

// A decoder decodes the values of a text. Its methods return false if the text is not accepted.
type decoder struct {
	text  string
	at    int
	depth int
	items []any // of the lists that are being decoded
}

func (d *decoder) skipSpace() {
	for d.at < len(d.text) && d.text[d.at] <= ' ' && isSpace(d.text[d.at]) {
		d.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// next skips space and returns the next byte, or 0 at the end.
func (d *decoder) next() byte {
	if d.at < len(d.text) && d.text[d.at] > ' ' {
		return d.text[d.at]
	}
	d.skipSpace()
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

// object decodes the object that begins at d.at.
func (d *decoder) object() (map[string]any, bool) {
	if d.depth++; d.depth > maxDepth {
		return nil, false
	}
	obj := map[string]any{}
	d.at++
	if d.next() == '}' {
		d.at++
		d.depth--
		return obj, true
	}
	for n := 1; ; n++ {
		if d.next() != '"' {
			return nil, false
		}
		name, ok := d.name()
		if !ok || d.next() != ':' {
			return nil, false
		}
		d.at++
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		if obj[name] = value; len(obj) != n {
			return nil, false // a duplicate key
		}
		switch d.next() {
		case ',':
			d.at++
		case '}':
			d.at++
			d.depth--
			return obj, true
		default:
			return nil, false
		}
	}
}

// list decodes the list that begins at d.at.
func (d *decoder) list() ([]any, bool) {
	if d.depth++; d.depth > maxDepth {
		return nil, false
	}
	d.at++
	if d.next() == ']' {
		d.at++
		d.depth--
		return []any{}, true
	}
	start := len(d.items)
	for {
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		d.items = append(d.items, value)
		switch d.next() {
		case ',':
			d.at++
		case ']':
			d.at++
			d.depth--
			list := make([]any, len(d.items)-start)
			copy(list, d.items[start:])
			clear(d.items[start:])
			d.items = d.items[:start]
			return list, true
		default:
			return nil, false
		}
	}
}

func (d *decoder) value() (any, bool) {
	switch c := d.next(); c {
	case '"':
		return d.stringValue()
	case '{':
		return d.object()
	case '[':
		return d.list()
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	default:
		if c != '-' && (c < '0' || c > '9') {
			return nil, false
		}
		return d.number()
	}
}

func (d *decoder) word(text string) bool {
	if end := d.at + len(text); end <= len(d.text) && d.text[d.at:end] == text {
		d.at = end
		return true
	}
	return false
}

// maxDigits is the number of digits that always fit in an int64.
const maxDigits = 18

func (d *decoder) number() (any, bool) {
	start, i := d.at, d.at
	negative := d.text[i] == '-'
	if negative {
		i++
	}
	digits, n := i, int64(0)
	for i < len(d.text) && '0' <= d.text[i] && d.text[i] <= '9' {
		n = n*10 + int64(d.text[i]-'0')
		i++
	}
	if i == digits || i-digits > maxDigits || d.text[digits] == '0' && i-digits > 1 {
		return nil, false
	}
	if i < len(d.text) && (d.text[i] == '.' || d.text[i] == 'e' || d.text[i] == 'E') {
		return d.float(start, i)
	}
	d.at = i
	if negative {
		n = -n
	}
	return n, true
}

// float decodes a number with a fraction or an exponent, which begins at i. It does not accept whole
// numbers, because kubectl sends them as integers.
func (d *decoder) float(start, i int) (any, bool) {
	digits := func() bool {
		from := i
		for i < len(d.text) && '0' <= d.text[i] && d.text[i] <= '9' {
			i++
		}
		return i > from
	}
	if d.text[i] == '.' {
		if i++; !digits() {
			return nil, false
		}
	}
	if i < len(d.text) && (d.text[i] == 'e' || d.text[i] == 'E') {
		if i++; i < len(d.text) && (d.text[i] == '+' || d.text[i] == '-') {
			i++
		}
		if !digits() {
			return nil, false
		}
	}
	f, err := strconv.ParseFloat(d.text[start:i], 64)
	if err != nil || f == math.Trunc(f) {
		return nil, false
	}
	d.at = i
	return f, true
}

// name decodes the string that begins at d.at, as the key of an object.
func (d *decoder) name() (string, bool) {
	raw, plain, ok := d.scanString()
	if !ok || plain {
		return raw, ok
	}
	return unescape(raw)
}

// stringValue decodes the string that begins at d.at.
func (d *decoder) stringValue() (any, bool) {
	raw, plain, ok := d.scanString()
	if !ok || plain {
		return raw, ok
	}
	return unescape(raw)
}

// scanString returns the text between the quotes of the string that begins at d.at. plain is set if it
// has no escape sequences.
func (d *decoder) scanString() (raw string, plain, ok bool) {
	start := d.at + 1
	plain, ascii := true, true
	for i := start; ; i++ {
		if i = jsontext.Plain(d.text, i); i >= len(d.text) {
			return "", false, false
		}
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			raw = d.text[start:i]
			return raw, plain, ascii || utf8.ValidString(raw)
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return "", false, false
		default:
			ascii = false
		}
	}
}

// unescape replaces the escape sequences of a string. It returns false for invalid sequences and for
// surrogates without a partner.
func unescape(raw string) (text string, ok bool) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		if i++; i == len(raw) {
			return "", false
		}
		if raw[i] == 'u' {
			r, n := codePoint(raw[i-1:])
			if n == 0 {
				return "", false
			}
			out = utf8.AppendRune(out, r)
			i += n - 2
			continue
		}
		c := escapes[raw[i]]
		if c == 0 {
			return "", false
		}
		out = append(out, c)
	}
	return string(out), true
}

// escapes maps the character after a backslash to the character of the string.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// codePoint decodes the \u sequence, or the pair of sequences, at the beginning of raw. It returns the
// length of the sequences, or 0 if they are not valid.
func codePoint(raw string) (r rune, n int) {
	first, ok := hex(raw)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(first):
		return first, 6
	}
	second, ok := hex(raw[6:])
	if r = utf16.DecodeRune(first, second); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex decodes the \u sequence at the beginning of raw.
func hex(raw string) (r rune, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(raw[2:6], 16, 16)
	return rune(n), err == nil
}
