package decode

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// decodeNumber returns f as decoded from JSON, where whole numbers have no decimal point.
func decodeNumber(f float64) (any, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	if n, err := strconv.ParseInt(formatInteger(f), 10, 64); err == nil {
		return n, true
	}
	return f, true
}

// formatInteger formats a whole number as encoding/json does if that uses no exponent. Otherwise it returns
// "".
func formatInteger(f float64) string {
	if f != math.Trunc(f) || math.Abs(f) >= 1e21 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Sent returns a JSON text as kubectl sends it. kubectl decodes and encodes numbers, so 1e3 and
// 1000.0 become 1000, an integer. Everything else is unchanged. If there are no such numbers, Sent
// returns text itself.
func Sent(text []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			i = stringEnd(text, i)
		case c == '-' || '0' <= c && c <= '9':
			end := numberEnd(text, i)
			if anew := rewritten(text[i:end]); anew != "" {
				out = append(append(out, text[copied:i]...), anew...)
				copied = end
			}
			i = end
		default:
			i++
		}
	}
	if copied == 0 {
		return text
	}
	return append(out, text[copied:]...)
}

func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func numberEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		if c := text[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			break
		}
	}
	return i
}

// rewritten returns the form in which kubectl writes a number that has a decimal point or an
// exponent, or "" if it keeps the number.
func rewritten(number []byte) string {
	var f float64
	if !bytes.ContainsAny(number, ".eE") || json.Unmarshal(number, &f) != nil {
		return ""
	}
	return formatInteger(f)
}
