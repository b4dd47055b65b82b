package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Report holds the results of a run.
type Report struct {
	name     string
	groups   []*groupResult
	failures []failure
	stale    []string
	compared int
}

type groupResult struct {
	name        string
	levels      map[string]*tally
	unsupported int
}

type tally struct{ passed, known, failed int }

type failure struct{ minor, id, level, detail string }

func newReport(groups []Group) *Report {
	r := &Report{}
	for _, g := range groups {
		r.groups = append(r.groups, newGroupResult(g.Name))
	}
	return r
}

func newGroupResult(name string) *groupResult {
	g := &groupResult{name: name, levels: map[string]*tally{}}
	for _, level := range Levels() {
		g.levels[level] = &tally{}
	}
	return g
}

func (r *Report) group(name string) *groupResult {
	i := slices.IndexFunc(r.groups, func(g *groupResult) bool { return g.name == name })
	if i < 0 {
		r.groups = append(r.groups, newGroupResult(name))
		i = len(r.groups) - 1
	}
	return r.groups[i]
}

func (r *Report) unsupported(group string) { r.group(group).unsupported++ }

// An empty detail means that the response is as expected.
func (r *Report) add(group, level, minor, id, detail string, all Known) {
	r.compared++
	t := r.group(group).levels[level]
	switch {
	case detail == "":
		t.passed++
	case all.find(level, minor, id):
		t.known++
	default:
		t.failed++
		r.failures = append(r.failures, failure{minor, id, level, detail})
	}
}

// A Score counts responses at a level: Right of Compared are as expected. Unsupported counts the writes that the
// implementation does not validate, which is the same at every level.
type Score struct{ Right, Compared, Unsupported int }

// Score returns the score of a group at a level, or the sum of all groups if group is "".
func (r *Report) Score(group, level string) (s Score) {
	for _, g := range r.groups {
		if group == "" || g.name == group {
			t := g.levels[level]
			s.Right, s.Compared, s.Unsupported = s.Right+t.passed, s.Compared+t.passed+t.known+t.failed, s.Unsupported+g.unsupported
		}
	}
	return s
}

// Wrong returns the IDs of the cases whose response at a level has this detail, without known
// differences.
func (r *Report) Wrong(level, detail string) (ids []string) {
	for _, f := range r.failures {
		if f.level == level && f.detail == detail {
			ids = append(ids, f.id)
		}
	}
	return ids
}

// Passed reports whether there are neither unknown differences nor stale known differences.
func (r *Report) Passed() bool { return len(r.failures)+len(r.stale) == 0 }

// Print prints the first failures and a table of the groups.
func (r *Report) Print(out io.Writer, failures int) {
	for i, f := range r.failures {
		if i == failures {
			fmt.Fprintf(out, "… and %d more\n", len(r.failures)-i)
			break
		}
		fmt.Fprintf(out, "%s %s %s:\n\t%s\n", f.level, f.minor, f.id, strings.ReplaceAll(printable(f.detail), "\n", "\n\t"))
	}
	for _, line := range r.stale {
		fmt.Fprintf(out, "known differences, %s\n", line)
	}
	if len(r.failures)+len(r.stale) > 0 {
		fmt.Fprintln(out)
	}
	r.printTable(out)
}

func (r *Report) printTable(out io.Writer) {
	fmt.Fprintf(out, "%s, format %d: answers as expected / compared (known differences)\n\n", printable(shorten(r.name, 100)), Format)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "group\t%s\tunsupported\t\n", strings.Join(Levels(), "\t"))
	total := newGroupResult("total")
	for _, g := range r.groups {
		g.print(w)
		total.unsupported += g.unsupported
		for level, t := range g.levels {
			sum := total.levels[level]
			sum.passed, sum.known, sum.failed = sum.passed+t.passed, sum.known+t.known, sum.failed+t.failed
		}
	}
	total.print(w)
	w.Flush()
}

func (g *groupResult) print(w io.Writer) {
	fmt.Fprintf(w, "%s\t", g.name)
	for _, level := range Levels() {
		t := g.levels[level]
		switch compared := t.passed + t.known + t.failed; {
		case compared == 0:
			fmt.Fprint(w, "-\t")
		case t.known > 0:
			fmt.Fprintf(w, "%d/%d (%d)\t", t.passed, compared, t.known)
		default:
			fmt.Fprintf(w, "%d/%d\t", t.passed, compared)
		}
	}
	fmt.Fprintf(w, "%d\t\n", g.unsupported)
}

// printable replaces control characters other than line breaks, because output of implementations is untrusted.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '�'
		}
		return r
	}, s)
}
