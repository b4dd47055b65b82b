package compare

import "strings"

// formatted returns strings of a format that CEL does not represent as strings, some longer and
// some shorter than n characters. No rule can express a constraint on such strings. It returns nil
// for all other formats.
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

// maxFormatted limits the length of generated strings.
const maxFormatted = 1 << 20
