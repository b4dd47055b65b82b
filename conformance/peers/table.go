package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// library returns the label for the share of library functions.
func (k kind) library() string {
	if k.libraries {
		return ">=0.5 %"
	}
	return "<0.5 %"
}

// The columns include the share of libraries in their time, the share of that bound that is
// reached, and the allocations of both sides. All are medians, except the worst ratio.
const (
	heading = "%-14s %-8s %-8s %7s  %8s %8s %8s  %7s %7s  %6s %7s\n"
	figures = "%-14s %-8s %-8s %7d  %7.1fx %7.1fx %7.1fx  %5.1f %% %5.0f %%  %6.0f %7.0f\n"
)

func printRows(out io.Writer, rows []row) {
	fmt.Fprintf(out, heading, "work", "outcome", "library", "objects", "geomean", "median", "worst", "library", "bound", "allocs", "theirs")
	for _, r := range rows {
		ratios := sorted(r.samples, func(s sample) float64 { return s.ratio })
		middle := func(by func(sample) float64) float64 { return sorted(r.samples, by)[len(r.samples)/2] }
		fmt.Fprintf(out, figures, r.work, r.outcome, r.library(), len(ratios),
			geomean(ratios), ratios[len(ratios)/2], ratios[0],
			100*middle(func(s sample) float64 { return s.library }),
			100*middle(func(s sample) float64 { return s.bound }),
			middle(func(s sample) float64 { return s.ourAllocs }),
			middle(func(s sample) float64 { return s.theirAllocs }))
	}
}

func sorted(samples []sample, by func(sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = by(s)
	}
	slices.Sort(out)
	return out
}

// table collects the rows of all CRDs.
type table struct{ byKind map[kind]*row }

func (t *table) add(rows []row) {
	if t.byKind == nil {
		t.byKind = map[kind]*row{}
	}
	for _, r := range rows {
		k := r.kind
		k.crd = "all"
		if t.byKind[k] == nil {
			t.byKind[k] = &row{kind: k}
		}
		t.byKind[k].samples = append(t.byKind[k].samples, r.samples...)
	}
}

// summarize prints each kind of work over all CRDs, followed by its worst objects.
func (t *table) summarize(out report) {
	var rows []row
	for _, r := range t.byKind {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b row) int { return compareKinds(a.kind, b.kind) })
	printRows(out.kept, rows)
	for _, r := range rows {
		printWorst(out.detail, r)
	}
}

// worstShown is the number of objects that are listed for each kind.
const worstShown = 3

func printWorst(out io.Writer, r row) {
	slices.SortFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.ratio, b.ratio) })
	for _, s := range r.samples[:min(worstShown, len(r.samples))] {
		fmt.Fprintf(out, "worst %-14s %-8s %-8s %7.1fx  %s\n", r.work, r.outcome, r.library(), s.ratio, s.object)
	}
}

func geomean(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}
