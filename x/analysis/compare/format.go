package compare

import "strings"

// formatted are texts of a format that CEL reads as no text, some longer and some
// shorter than n letters: no rule says what a schema asks of the texts themselves.
// Nil is of every other format.
func formatted(format string, n int64) []any {
	n = min(n, maxFormatted)
	switch strings.ReplaceAll(format, "-", "") {
	case "byte":
		return []any{"", "YQ==", strings.Repeat("YWFh", int(n-1)/4), strings.Repeat("YWFh", int(n)/4+1)}
	case "date":
		return []any{"2020-01-01"}
	case "datetime":
		return []any{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00+01:00", "2020-01-01T00:00:00.123456789+01:00"}
	case "duration":
		return []any{"0", "1s", "24h", "90ms", strings.Repeat("1s", int(n)/2+1)}
	}
	return nil
}

// maxFormatted bounds the texts that are made.
const maxFormatted = 1 << 20
