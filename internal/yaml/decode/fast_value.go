package decode

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// flow reads empty brackets, or a list of scalars in brackets, that end on their line, and advances to the next line.
func (r *reader) flow() any {
	s := r.restOfLine()
	var v any
	switch {
	case bytes.HasPrefix(s, emptyMapping):
		v, s = map[string]any{}, s[len(emptyMapping):]
	case s[0] == '[':
		v, s = r.flowList(bytes.TrimLeft(s[1:], " "))
	default:
		return r.fail()
	}
	if after := bytes.TrimLeft(s, " "); len(after) > 0 && (after[0] != '#' || s[0] != ' ') {
		return r.fail()
	}
	r.next()
	return v
}

var emptyMapping = []byte("{}")

// flowList reads the items after an opening bracket and returns the text after the closing bracket.
func (r *reader) flowList(s []byte) (v any, rest []byte) {
	list := []any{}
	for more := len(s) == 0 || s[0] != ']'; more; {
		var item any
		if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
			item, s = r.flowQuoted(s)
		} else {
			item, s = r.flowPlain(s)
		}
		list = append(list, item)
		if s = bytes.TrimLeft(s, " "); len(s) == 0 || s[0] != ',' && s[0] != ']' {
			return r.fail(), nil
		}
		if more = s[0] == ','; more {
			s = bytes.TrimLeft(s[1:], " ")
		}
	}
	return list, s[1:]
}

// flowQuoted reads a quoted scalar that ends on its line.
func (r *reader) flowQuoted(s []byte) (v any, rest []byte) {
	quote := s[0]
	r.built = r.built[:0]
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote == '"':
			if i++; i == len(s) || escapes[s[i]] == 0 {
				return r.fail(), nil
			}
			r.built = append(r.built, escapes[s[i]])
		case c != quote:
			r.built = append(r.built, c)
		case quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
			r.built = append(r.built, c)
		default:
			return string(r.built), s[i+1:]
		}
	}
	return r.fail(), nil
}

// flowPlain reads a plain scalar without characters that have a special meaning anywhere in YAML.
func (r *reader) flowPlain(s []byte) (v any, rest []byte) {
	end := bytes.IndexAny(s, ",]}")
	if end < 0 {
		return r.fail(), nil
	}
	text := bytes.TrimRight(s[:end], " ")
	if len(text) == 0 || !keyByte[text[0]] && text[0] < 0x80 || text[0] == '-' && (len(text) == 1 || text[1] == ' ') || bytes.ContainsAny(text, "[{:#?&*!|>%@`'\"") {
		return r.fail(), nil
	}
	return r.resolve(text), s[end:]
}

// simple reports whether text has only ordinary characters: no tabs or byte order mark, and line
// feeds as the only line breaks.
func simple(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r < 0xa0 || r == utf8.RuneError || r == '\u2028' || r == '\u2029' || r >= 0xfe00 && r <= 0xffff {
			return false
		}
		i += n
	}
	return true
}

// resolve converts a plain scalar to its YAML 1.1 type, like the library.
func (r *reader) resolve(s []byte) any {
	switch s[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '+':
		return r.number(string(s))
	case '.':
		if len(s) > 1 && '0' <= s[1] && s[1] <= '9' || bytes.EqualFold(s, infinity) || bytes.EqualFold(s, notANumber) {
			return r.fail()
		}
	case '<':
		if string(s) == "<<" {
			return r.fail()
		}
	case 'y', 'Y', 'n', 'N', 't', 'T', 'f', 'F', 'o', 'O', '~':
		if v, ok := wordValue(s); ok {
			return v
		}
	}
	return string(s)
}

var (
	infinity   = []byte(".inf")
	notANumber = []byte(".nan")
)

// wordValue returns the value of a word that YAML 1.1 interprets as a boolean or null.
func wordValue(s []byte) (v any, ok bool) {
	switch string(s) {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	case "~", "null", "Null", "NULL":
		return nil, true
	}
	return nil, false
}

// decimal matches the decimal numbers of YAML 1.1 without underscores.
var decimal = regexp.MustCompile(`^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$`)

// number converts a plain scalar that begins with a digit or a sign. Most are integers, or strings such as 10s. It
// fails for rare forms of numbers.
func (r *reader) number(s string) any {
	digits := strings.TrimLeft(s, "+-")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && (digits == "0" || digits[0] != '0') {
		return n
	}
	isDecimal := decimal.MatchString(s)
	switch {
	case strings.ContainsRune(s, '_'), strings.HasPrefix(digits, "0b"), strings.HasPrefix(digits, ".") && digits != s: // -.inf is a number too
		return r.fail()
	case !isDecimal && !strings.HasPrefix(digits, "0"):
		return s
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n
	}
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return r.fail()
	}
	if !isDecimal {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	v, ok := decodeNumber(f)
	if err != nil || !ok {
		return r.fail()
	}
	return v
}
