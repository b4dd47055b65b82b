package compare

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Difference is an aspect in which two verdicts differ.
type Difference struct {
	Aspect string
	// Missing holds lines that are only in the libraries' verdict, Extra lines that are only in Celadon's.
	Missing, Extra []string
}

// Differences returns the differences between the libraries' verdict and Celadon's, sorted by
// aspect. It ignores the cost, and the rules of an invalid schema, if only one side has them. If
// the libraries panic, it is enough that Celadon rejects the CRD or the write.
func Differences(libraries, celadon Verdict) (all []Difference) {
	if len(libraries[panics]) > 0 && len(celadon[crdError])+len(celadon[cause])+len(celadon[unreadable]) > 0 {
		return nil
	}
	aspects := maps.Clone(libraries)
	maps.Copy(aspects, celadon)
	for _, aspect := range slices.Sorted(maps.Keys(aspects)) {
		want, got := libraries[aspect], celadon[aspect]
		optional := aspect == runCost || aspect == rule && len(libraries[crdError]) > 0
		if optional && (len(want) == 0 || len(got) == 0) || slices.Equal(want, got) {
			continue
		}
		all = append(all, Difference{aspect, subtract(want, got), subtract(got, want)})
	}
	return all
}

// subtract counts duplicates.
func subtract(a, b []string) (rest []string) {
	left := count(b)
	for _, line := range a {
		if left[line]--; left[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}

func count(lines []string) map[string]int {
	n := map[string]int{}
	for _, line := range lines {
		n[line]++
	}
	return n
}

var (
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|` + "`[^`]*`")
	numbers = regexp.MustCompile(`\d+`)
	paths   = regexp.MustCompile(`^\S+ `)
)

// Class returns a description without the path, quoted strings, and numbers, to group differences.
func (d *Difference) Class() string {
	line := func(lines []string) string {
		if len(lines) == 0 {
			return "nothing"
		}
		text := paths.ReplaceAllString(lines[0], "")
		return cut(numbers.ReplaceAllString(quoted.ReplaceAllString(text, `"…"`), "0"), 140)
	}
	return d.Aspect + ": want " + line(d.Missing) + ", got " + line(d.Extra)
}

// String returns the lines of the difference, shortened.
func (d *Difference) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, d.Aspect)
	for _, list := range []struct {
		mark  string
		lines []string
	}{{"-", d.Missing}, {"+", d.Extra}} {
		for i, line := range list.lines {
			if i == 6 {
				fmt.Fprintf(&b, "  %s %d more\n", list.mark, len(list.lines)-i)
				break
			}
			fmt.Fprintf(&b, "  %s %s\n", list.mark, cut(line, 1500))
		}
	}
	return b.String()
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Within reports whether Celadon's verdict on a write is consistent with the libraries' verdicts, which vary with
// the order of Go maps: it equals one of them, or it has all causes and warnings that occur in each of them, no
// others than occur in some of them, and a cost in their range.
func Within(libraries []Verdict, celadon Verdict) bool {
	varies := false
	for _, v := range libraries {
		if len(Differences(v, celadon)) == 0 {
			return true
		}
		varies = varies || len(Differences(libraries[0], v)) > 0
	}
	if !varies {
		return false
	}
	for _, aspect := range []string{cause, warning} {
		if !between(libraries, celadon, aspect) {
			return false
		}
	}
	return withinCosts(libraries, celadon)
}

func between(libraries []Verdict, celadon Verdict, aspect string) bool {
	always, sometimes := count(libraries[0][aspect]), map[string]int{}
	for _, v := range libraries {
		lines := count(v[aspect])
		for line := range always {
			always[line] = min(always[line], lines[line])
		}
		for line, n := range lines {
			sometimes[line] = max(sometimes[line], n)
		}
	}
	ours := count(celadon[aspect])
	for line, n := range always {
		if ours[line] < n {
			return false
		}
	}
	for line, n := range ours {
		if sometimes[line] < n {
			return false
		}
	}
	return true
}

func withinCosts(libraries []Verdict, celadon Verdict) bool {
	ours, ok := costOf(celadon)
	if !ok {
		return true
	}
	low, high, known := int64(0), int64(0), false
	for _, v := range libraries {
		n, ok := costOf(v)
		if !ok {
			continue
		}
		if !known {
			low, high, known = n, n, true
		}
		low, high = min(low, n), max(high, n)
	}
	return !known || ours >= low && ours <= high
}

func costOf(v Verdict) (int64, bool) {
	if len(v[runCost]) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(v[runCost][0], 10, 64)
	return n, err == nil
}
