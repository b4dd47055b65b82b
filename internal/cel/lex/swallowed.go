package lex

import "strings"

// maxSwallowed limits the line breaks that Swallowed restores, and maxSwallowedTries the positions that it tries in
// each comment.
const (
	maxSwallowed      = 8
	maxSwallowedTries = 8
)

// SwallowedMessage describes a comment that Swallowed found.
const SwallowedMessage = "the comment contains the rest of the expression, which is not evaluated: > joins lines in YAML, so write | in its place"

// Swallowed restores the line breaks after comments in an expression whose lines were joined, as a folded scalar of
// YAML does, so that a comment contains the code after it: "a // small && b". The rest must begin with an operator
// after words, and compiles must accept it as code. Swallowed returns "" if no comment contains code. at is the
// position of the first comment that does, in code points.
func Swallowed(src string, compiles func(src string) bool) (fixed string, at int) {
	from := 0
	for range maxSwallowed {
		restored := false
		for _, t := range Tokens([]rune(src)) {
			if t.Kind != Comment || t.Start < from {
				continue
			}
			if text, ok := restoredLine([]rune(src), t, compiles); ok {
				if fixed == "" {
					at = t.Start
				}
				src, fixed, restored, from = text, text, true, t.Start+1
				break
			}
		}
		if !restored {
			break
		}
	}
	return fixed, at
}

// restoredLine inserts a line break into a comment before the first operator where the result
// compiles.
func restoredLine(src []rune, comment Token, compiles func(string) bool) (string, bool) {
	tries := 0
	for i := comment.Start + len("//"); i+2 < comment.End && tries < maxSwallowedTries; i++ {
		before := strings.TrimSpace(string(src[comment.Start+len("//") : i]))
		if operator := string(src[i : i+2]); before == "" || src[i-1] != ' ' || operator != "&&" && operator != "||" && operator != "? " {
			continue
		}
		tries++
		if text := strings.TrimRight(string(src[:i]), " ") + "\n" + string(src[i:]); compiles(text) {
			return text, true
		}
	}
	return "", false
}
