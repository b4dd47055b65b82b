// Package phrase says quantities and places the same way wherever Celadon speaks
// to people: in vet's text, in the shell and in eval. What the API server words
// itself is left as the server has it.
package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// great is from where on digits are counted rather than read.
const great = 1_000_000_000

// Rule names a rule by its place and its index there, which is that of JSON
// reports and of the server's x-kubernetes-validations[0].
func Rule(path string, index int) string { return fmt.Sprintf("%s, rule %d", Place(path), index) }

// Place is a path in objects, as "spec.hosts[*]".
func Place(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// Number groups digits by three; of great numbers it gives the size, as
// "3.46e17". math.MaxUint64 stands for all that is too great to count.
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

// Searched is how far was looked for an object: at how many, and how long their
// longest list was.
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

// Range is two numbers, or one that is both.
func Range(from, to uint64) string {
	if from == to {
		return Number(to)
	}
	return Number(from) + " to " + Number(to)
}

// Share is how much of a limit a part takes: percent below ten times the limit,
// then how often the limit, as "17x". It is never rounded to nothing, nor from
// above the limit to all of it.
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

// Count is a number of things; noun is of one of them.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
