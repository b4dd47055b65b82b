package decode

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// decodeNumber is a float as it comes out of JSON, where a whole one has no point.
func decodeNumber(f float64) (any, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	if n, err := strconv.ParseInt(whole(f), 10, 64); err == nil {
		return n, true
	}
	return f, true
}

// whole is a whole float as encoding/json writes it where it does so without an
// exponent; "" for all others.
func whole(f float64) string {
	if f != math.Trunc(f) || math.Abs(f) >= 1e21 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Sent is a JSON text as kubectl sends it on: it decodes the numbers and writes
// them anew, so that 1e3 and 1000.0 arrive as 1000, an integer. The rest stays
// as it is, and so do texts without such numbers.
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

// stringEnd is behind the JSON string that begins at i.
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

// rewritten is a number with a point or an exponent that kubectl writes without;
// "" for all others.
func rewritten(number []byte) string {
	var f float64
	if !bytes.ContainsAny(number, ".eE") || json.Unmarshal(number, &f) != nil {
		return ""
	}
	return whole(f)
}
