package decode

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
		return r.number(s)
	case '.':
		if len(s) > 1 && isDigit(s[1]) || bytes.EqualFold(s, infinity) || bytes.EqualFold(s, notANumber) {
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(s []byte) bool {
	_, ok := wordValue(s)
	return ok
}

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

// Boolean returns true or false for a word that YAML 1.1 interprets as this boolean, and "" otherwise.
func Boolean(word string) string {
	if v, ok := wordValue([]byte(word)); ok && v != nil {
		return strconv.FormatBool(v.(bool))
	}
	return ""
}

// maxDigits is the number of digits that always fit in an int64.
const maxDigits = 18

func (r *reader) number(s []byte) any {
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	i, n := 0, int64(0)
	for i < len(digits) && isDigit(digits[i]) {
		n = n*10 + int64(digits[i]-'0')
		i++
	}
	switch {
	case i == 0 || i > maxDigits || digits[0] == '0' && len(digits) > 1:
		return r.unusualNumber(string(s))
	case i < len(digits):
		if c := digits[i]; c != '.' && c != 'e' && c != 'E' && c != '_' {
			return string(s)
		}
		return r.unusualNumber(string(s))
	case len(s) > len(digits):
		n = -n
	}
	return n
}

// unusualNumber converts any scalar that begins with a digit or a sign, or fails for rare forms.
func (r *reader) unusualNumber(s string) any {
	digits := strings.TrimLeft(s, "+-")
	decimal := isFloat(s)
	switch {
	case strings.ContainsRune(s, '_'), strings.HasPrefix(digits, "0b"), strings.HasPrefix(digits, ".") && digits != s: // -.inf is a number too
		return r.fail()
	case !decimal && !strings.HasPrefix(digits, "0"):
		return s
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n
	}
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return r.fail()
	}
	if !decimal {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	v, ok := decodeNumber(f)
	if err != nil || !ok {
		return r.fail()
	}
	return v
}

func isFloat(s string) bool {
	i := 0
	digits := func() (n int) {
		for ; i < len(s) && isDigit(s[i]); i++ {
			n++
		}
		return n
	}
	sign := func() {
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
	}
	sign()
	n := digits()
	if i < len(s) && s[i] == '.' {
		i++
		n += digits()
	}
	if n > 0 && i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		sign()
		if digits() == 0 {
			return false
		}
	}
	return n > 0 && i == len(s)
}
