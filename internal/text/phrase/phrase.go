// Package phrase formats quantities and paths for messages, so that all commands use the same form.
// Messages that must equal the API server's do not use it.
package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const great = 1_000_000_000

// Rule returns the name of a rule: its path and its index in x-kubernetes-validations, as in JSON
// reports and server messages.
func Rule(path string, index int) string { return fmt.Sprintf("%s, rule %d", Path(path), index) }

// Path returns a path in an object, such as "spec.hosts[*]", or "the root" if it is empty.
func Path(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// Number formats n with thousands separators, and large numbers in scientific notation, such as
// "3.46e17". math.MaxUint64 represents overflow and is formatted as ">1e19".
func Number(n uint64) string {
	switch {
	case n == math.MaxUint64:
		return ">1e19"
	case n >= great:
		return size(float64(n))
	}
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(f float64) string {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', 2, 64), "e+")
	return digits + "e" + strings.TrimPrefix(exponent, "0")
}

// Searched describes the extent of a search: the number of objects tried, and the length of their longest list.
func Searched(objects, longest int) string {
	text := Number(uint64(objects)) + " objects"
	if objects == 1 {
		text = "1 object"
	}
	if longest > 0 {
		text += fmt.Sprintf(", lists up to %d", longest)
	}
	return text
}

// Range formats a range, or a single number if both ends are equal.
func Range(from, to uint64) string {
	if from == to {
		return Number(to)
	}
	return Number(from) + " to " + Number(to)
}

// Share formats part as a share of limit: as a percentage below ten times the limit, otherwise as a multiple such as
// "17x". A nonzero share is never rounded to zero, and a share above the limit is never rounded to 100%.
func Share(part, limit uint64) string {
	percent := 100 * float64(part) / float64(limit)
	switch {
	case part == 0:
		return "0%"
	case part == math.MaxUint64 && limit < math.MaxUint64:
		return ">" + size(float64(part)/float64(limit)) + "x"
	case percent < 0.1:
		return "<0.1%"
	case percent < 9.95:
		return fmt.Sprintf("%.1f%%", percent)
	case part > limit && percent < 100.5:
		return ">100%"
	case part < limit && percent >= 99.5:
		return "<100%"
	case percent < 999.5:
		return fmt.Sprintf("%.0f%%", percent)
	}
	return Number(uint64(math.Round(percent/100))) + "x"
}

// Count formats a number of things. noun is in the singular.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Or lists alternatives, such as "a, b, or c".
func Or(names []string) string {
	last := len(names) - 1
	if last < 2 {
		return strings.Join(names, " or ")
	}
	return strings.Join(names[:last], ", ") + ", or " + names[last]
}
