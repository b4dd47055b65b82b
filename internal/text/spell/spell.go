// Package spell finds the name that was meant.
package spell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDistance bounds how many names are offered.
const maxDistance = 3

// longest is of a word or a name, in bytes, that may be a slip: both may come
// from a file.
const longest = 256

// Nearest is the name most like word among those known, the first of equals; ""
// when none is near.
func Nearest(word string, known []string) string {
	if near := Near(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Near are the names most like word, three at most, in the order of known: those
// that are equally near, and nearer than all others.
func Near(word string, known []string) []string {
	if word == "" || len(word) > longest {
		return nil
	}
	best, near := reach(word), []string(nil)
	for _, name := range known {
		if len(name) > longest {
			continue
		}
		switch d := apart(word, name, best); {
		case d < best:
			best, near = d, []string{name}
		case d == best && len(near) < maxDistance && !slices.Contains(near, name):
			near = append(near, name)
		}
	}
	return near
}

// DidYouMean ends an error about a name that does not exist with those that are
// near it; "" where none is.
func DidYouMean(word string, known []string) string {
	near := Near(word, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// offered is how many names are offered where none is near.
const offered = 5

// Offer is DidYouMean, or where none is near the first of the names that are
// known.
func Offer(word string, known []string) string {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	if hint := DidYouMean(word, known); hint != "" || len(known) == 0 {
		return hint
	}
	quoted := make([]string, 0, offered)
	for _, name := range known[:min(len(known), offered)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	more := ""
	if n := len(known) - offered; n > 0 {
		more = fmt.Sprintf(" or %d more", n)
	}
	return ": want " + strings.Join(quoted, ", ") + more
}

// reach is how far a word may be from a name that is meant: one mistake, or one
// in three letters.
func reach(word string) int { return max(1, len([]rune(word))/3) }

// apart is how far a word is from a name, or more than limit: one that begins so
// is near, but no nearer than one mistake.
func apart(word, name string, limit int) int {
	d := max(len(word)-len(name), len(name)-len(word)) / utf8.UTFMax // at least
	if d <= limit {
		d = distance(word, name)
	}
	if min(len(word), len(name)) > 1 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
		d = min(d, 1)
	}
	return d
}

// distance is how many letters must be changed, added, taken away or swapped
// with their neighbour to make b of a, without regard to case (optimal string
// alignment).
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
