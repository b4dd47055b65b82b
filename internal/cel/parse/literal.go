package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

func (s *state) literal(at ast.OffsetRange, value ref.Val) operand {
	return operand{expr: s.factory.NewLiteral(s.newID(at), value)}
}

// number parses a number after its sign, if any. Its position starts at the sign, and its length
// does not include space between the sign and the digits.
func (s *state) number(sign token) (operand, path) {
	t := s.tok
	text, at := s.textOf(t), rangeOf(t)
	if sign.Kind == scan.Minus {
		if sign.End == t.Start {
			text = s.src.text[sign.Start:t.End]
		} else {
			text = "-" + text
		}
		at = ast.OffsetRange{Start: sign.at, Stop: sign.at + int32(len(text))}
	}
	value, ok := numberOf(t, text)
	if !ok {
		return s.wrong(at), path{}
	}
	s.advance()
	return s.literal(at, value), path{}
}

func numberOf(t token, text string) (ref.Val, bool) {
	base := 10
	if t.Marks.Has(scan.Escaped) {
		base, text = 16, strings.Replace(text, "0x", "", 1)
	}
	switch t.Kind {
	case scan.Int:
		n, err := strconv.ParseInt(text, base, 64)
		return celtypes.Int(n), err == nil
	case scan.Uint:
		n, err := strconv.ParseUint(text[:len(text)-1], base, 64)
		return celtypes.Uint(n), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return celtypes.Double(n), err == nil
}

func (s *state) text() operand {
	t := s.tok
	value, ok := textValue(t.Token, s.textOf(t), s.config.Surrogates)
	if (!ok || t.Marks.Has(scan.Open)) && !s.rejected(t) {
		return operand{}
	}
	s.advance()
	if t.Kind == scan.Bytes {
		return s.literal(rangeOf(t), celtypes.Bytes(value))
	}
	return s.literal(rangeOf(t), celtypes.String(value))
}

// textValue returns the value of a string or bytes literal, which may be incomplete.
func textValue(t scan.Token, text string, surrogates bool) (string, bool) {
	quote, raw := 0, false
	for ; text[quote] != '"' && text[quote] != '\''; quote++ {
		raw = raw || text[quote]|0x20 == 'r'
	}
	q, quotes := text[quote], 1
	if text = text[quote+1:]; len(text) >= 2 && text[0] == q && text[1] == q {
		text, quotes = text[2:], 3
	}
	if !t.Marks.Has(scan.Open) {
		text = text[:len(text)-quotes]
	}
	if !t.Marks.Has(scan.Escaped) {
		return text, true
	}
	text = plainLines.Replace(text)
	if raw {
		return text, true
	}
	return unescape(text, t.Kind == scan.Bytes, surrogates)
}

var plainLines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// unescape replaces the escape sequences in text. If a sequence is invalid, it returns the result
// up to that point and false.
func unescape(text string, bytes, surrogates bool) (string, bool) {
	out := make([]byte, 0, len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return string(append(out, text...)), true
		}
		out = append(out, text[:i]...)
		next, n := escape(out, text[i+1:], bytes, surrogates)
		if n == 0 {
			return string(out), false
		}
		out, text = next, text[i+1+n:]
	}
}

// escape decodes the escape sequence at the start of text, which follows a backslash, and appends
// its value to out. It returns the length of the sequence, or 0 if the sequence is invalid. If
// surrogates is set, a surrogate becomes U+FFFD.
func escape(out []byte, text string, bytes, surrogates bool) ([]byte, int) {
	if text == "" {
		return out, 0
	}
	digits, base := 0, 16
	switch c := text[0]; c {
	case 'x', 'X':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '0', '1', '2', '3':
		digits, base = 3, 8
	default:
		i := strings.IndexByte("abfnrtv\\'\"`?", c)
		if i < 0 {
			return out, 0
		}
		return append(out, "\a\b\f\n\r\t\v\\'\"`?"[i]), 1
	}
	n := digits
	if base == 16 {
		text, n = text[1:], n+1
	}
	if len(text) < digits {
		return out, 0
	}
	r, err := strconv.ParseUint(text[:digits], base, 32)
	switch {
	case err != nil || bytes && digits > 3:
		return out, 0
	case bytes:
		return append(out, byte(r)), n
	case r > utf8.MaxRune || !surrogates && !utf8.ValidRune(rune(r)):
		return out, 0
	}
	return utf8.AppendRune(out, rune(r)), n
}
