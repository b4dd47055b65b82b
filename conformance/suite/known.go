package suite

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const maxKnown = 10_000

// Known holds the differences that a user expects.
type Known []*known

type known struct {
	line                        int
	level, minor, cases, reason string
	found                       int
}

// ReadKnown reads a file of known differences. Each line has the form "level minor case: reason". The
// minor version and the case are patterns of package path, and the case matches across slashes.
func ReadKnown(r io.Reader) (all Known, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		head, reason, _ := strings.Cut(text, ": ")
		words := strings.Fields(head)
		if len(words) != 3 || strings.TrimSpace(reason) == "" || n > maxKnown {
			return nil, fmt.Errorf("line %d: want \"level minor case: reason\" and at most %d lines", n, maxKnown)
		}
		k := &known{line: n, level: words[0], minor: words[1], cases: flat(words[2]), reason: reason}
		if !slices.Contains(Levels(), k.level) {
			return nil, fmt.Errorf("line %d: unknown level %q (want one of %s)", n, k.level, strings.Join(Levels(), ", "))
		}
		for _, pattern := range []string{k.minor, k.cases} {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("line %d: %q: %w", n, pattern, err)
			}
		}
		all = append(all, k)
	}
	return all, lines.Err()
}

// flat replaces slashes, so that * matches them.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

func (all Known) find(level, minor, id string) bool {
	for _, k := range all {
		inMinor, _ := path.Match(k.minor, minor)
		inCase, _ := path.Match(k.cases, flat(id))
		if k.level == level && inMinor && inCase {
			k.found++
			return true
		}
	}
	return false
}

func (all Known) stale() (out []string) {
	for _, k := range all {
		if k.found == 0 {
			out = append(out, fmt.Sprintf("line %d: no difference matches (%s)", k.line, k.reason))
		}
	}
	return out
}
