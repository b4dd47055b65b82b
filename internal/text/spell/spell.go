// Package spell suggests corrections for misspelled names.
package spell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxSuggestions = 3

// longest limits the length of words and names, in bytes, because both may be untrusted.
const longest = 256

// Nearest returns the name in known that is most similar to word, or "" if none is similar. Of
// equally similar names, it returns the first.
func Nearest(word string, known []string) string {
	if near := Near(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Near returns the names in known that are most similar to word, in the order of known. All are
// equally similar, and there are at most three.
func Near(word string, known []string) []string {
	if word == "" || len(word) > longest {
		return nil
	}
	best, near, prefixed := maxDistance(word), []string(nil), false
	for _, name := range known {
		if len(name) > longest {
			continue
		}
		d, isPrefix := wordDistance(word, name, best)
		switch {
		case d < best || d == best && prefixed && !isPrefix: // one mistake is nearer than a prefix
			best, near, prefixed = d, []string{name}, isPrefix
		case d == best && isPrefix && !prefixed && len(near) > 0:
		case d == best && len(near) < maxSuggestions && !slices.Contains(near, name):
			near, prefixed = append(near, name), isPrefix
		}
	}
	return near
}

// DidYouMean returns the end of an error message that suggests names similar to word, or "" if no name is similar.
func DidYouMean(word string, known []string) string {
	near := Near(word, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

const offered = 5

// SuggestOrList is like DidYouMean, but lists the first known names, sorted, if none is similar.
func SuggestOrList(word string, known []string) string {
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

// maxDistance returns the maximum distance between a word and a suggestion: one mistake, or one per three
// letters in longer words.
func maxDistance(word string) int { return max(1, len([]rune(word))/3) }

// wordDistance returns the distance between word and name, or a number above limit. isPrefix is set if name is a prefix
// of word and is nearer for that.
func wordDistance(word, name string, limit int) (d int, isPrefix bool) {
	d = max(len(word)-len(name), len(name)-len(word)) / utf8.UTFMax // a lower bound
	if d <= limit {
		d = distance(word, name)
	}
	if min(len(word), len(name)) > 1 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
		return min(d, 1), d > 1 && strings.HasPrefix(word, name)
	}
	return d, false
}

// distance returns the case-insensitive edit distance of a and b: the number of letters to change,
// insert, delete, or swap with a neighbor (optimal string alignment).
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
