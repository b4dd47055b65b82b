package conformance

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Report collects the results of a mode. Its methods are safe for concurrent use.
type Report struct {
	mode string

	mu       sync.Mutex
	passed   map[string]bool
	failures map[string]*failure
	notes    map[string]int
}

type failure struct {
	id          string
	differences []Difference
}

// NewReport returns an empty report. The closing line begins with mode.
func NewReport(mode string) *Report {
	return &Report{mode: mode, passed: map[string]bool{}, failures: map[string]*failure{}, notes: map[string]int{}}
}

// Add records the result of a case. A case without differences passed.
func (r *Report) Add(id string, differences ...Difference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(differences) == 0 {
		r.passed[id] = true
		return
	}
	r.failures[id] = &failure{id, differences}
}

// Error records that a case could not be run.
func (r *Report) Error(id string, err error) {
	r.Add(id, Difference{"not tried: " + generalize(err.Error()), shorten(err.Error(), 400)})
}

// Note counts an event that is neither a pass nor a failure. Counts are printed above the closing
// line.
func (r *Report) Note(event string) { r.Count(event, 1) }

// Count is like Note for n events.
func (r *Report) Count(event string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes[event] += n
}

// Noted returns how often an event was noted.
func (r *Report) Noted(event string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[event]
}

// shownFailures limits the failures per reason that are printed with their differences.
const shownFailures = 5

// Close prints the unexpected failures, grouped by reason, and the closing line. It returns an error if
// a case failed that is not a known failure, or if a known failure passed.
func (r *Report) Close(w io.Writer, known Known) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := known[r.mode]
	fixed := r.fixed(listed)
	for _, id := range fixed {
		fmt.Fprintf(w, "%s: %s passes, but is listed as a known failure\n", r.mode, id)
	}
	unknown := r.printFailures(w, listed)
	for _, note := range slices.Sorted(maps.Keys(r.notes)) {
		fmt.Fprintf(w, "%s: %d %s\n", r.mode, r.notes[note], note)
	}
	line := fmt.Sprintf("%s: %d passed, %d failed", r.mode, len(r.passed), len(r.failures))
	if n := len(r.failures) - unknown; n > 0 {
		line += fmt.Sprintf(" (%d of them known)", n)
	}
	fmt.Fprintln(w, line)
	if unknown > 0 || len(fixed) > 0 {
		return fmt.Errorf("%s: %d unexpected failures, %d unexpected passes", r.mode, unknown, len(fixed))
	}
	return nil
}

func (r *Report) fixed(listed map[string]string) []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if r.passed[id] {
			out = append(out, id)
		}
	}
	return out
}

func (r *Report) printFailures(w io.Writer, listed map[string]string) int {
	byReason := map[string][]*failure{}
	unknown := 0
	for _, id := range slices.Sorted(maps.Keys(r.failures)) {
		if _, ok := listed[id]; ok {
			continue
		}
		f := r.failures[id]
		unknown++
		reason := f.differences[0].Reason
		byReason[reason] = append(byReason[reason], f)
	}
	reasons := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		printReason(w, r.mode, reason, byReason[reason])
	}
	return unknown
}

func printReason(w io.Writer, mode, reason string, failures []*failure) {
	fmt.Fprintf(w, "%s: %d × %s\n", mode, len(failures), reason)
	for i, f := range failures {
		fmt.Fprintf(w, "  %s\n", f.id)
		if i >= shownFailures {
			continue
		}
		for _, d := range f.differences {
			if d.Reason != reason {
				fmt.Fprintf(w, "    %s\n", d.Reason)
			}
			fmt.Fprintf(w, "      %s\n", strings.ReplaceAll(d.Detail, "\n", "\n      "))
		}
	}
}

// Known maps mode and case ID to the reason of a known failure.
type Known map[string]map[string]string

// ReadKnown reads a file with lines of the form "mode case: reason". It skips empty lines and lines
// that begin with #.
func ReadKnown(file string) (Known, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := Known{}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		entry, reason, _ := strings.Cut(line, ": ")
		mode, id, ok := strings.Cut(entry, " ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: want \"mode case: reason\" (got %q)", file, i+1, line)
		}
		if known[mode] == nil {
			known[mode] = map[string]string{}
		}
		known[mode][id] = reason
	}
	return known, nil
}
