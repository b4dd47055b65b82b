package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// library is how a row names its share of library functions.
func (k kind) library() string {
	if k.libraries {
		return ">= 0.5 %"
	}
	return "< 0.5 %"
}

func printRows(out io.Writer, rows []row) {
	for _, r := range rows {
		fmt.Fprintf(out, "%-40s %-14s %-8s library %-8s %s\n", shorten(r.crd, 40), r.work, r.outcome, r.library(), figures(r.samples))
	}
}

func figures(samples []sample) string {
	ratios := sorted(samples, func(s sample) float64 { return s.ratio })
	shares := sorted(samples, func(s sample) float64 { return s.library })
	bounds := sorted(samples, func(s sample) float64 { return s.bound })
	allocs := sorted(samples, func(s sample) float64 { return s.ourAllocs })
	theirs := sorted(samples, func(s sample) float64 { return s.theirAllocs })
	n := len(samples)
	return fmt.Sprintf("%4d objects  library %4.1f %%  of bound %3.0f %% (worst %3.0f %%)  allocs %3.0f (most %3.0f) of %6.0f  geomean %6.1fx  median %6.1fx  worst %6.1fx",
		n, 100*shares[n/2], 100*bounds[n/2], 100*bounds[0], allocs[n/2], allocs[n-1], theirs[n/2], geomean(ratios), ratios[n/2], ratios[0])
}

func sorted(samples []sample, by func(sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = by(s)
	}
	slices.Sort(out)
	return out
}

func printScaling(out io.Writer, crd string, s float64) {
	if s > 0 {
		fmt.Fprintf(out, "%-40s two cores      %.2f times one\n", shorten(crd, 40), s)
	}
}

// table gathers the rows of all CRDs.
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

// summarize prints each kind of work over all CRDs, the worst last.
func (t *table) summarize(out io.Writer) {
	var rows []row
	for _, r := range t.byKind {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b row) int { return compareKinds(a.kind, b.kind) })
	printRows(out, rows)
	fmt.Fprintln(out)
	for _, r := range rows {
		printWorst(out, r)
	}
}

// worstShown is how many objects of a kind are named.
const worstShown = 3

func printWorst(out io.Writer, r row) {
	slices.SortFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.ratio, b.ratio) })
	for _, s := range r.samples[:min(worstShown, len(r.samples))] {
		fmt.Fprintf(out, "worst %-14s %-8s library %-8s %6.1fx  allocs %3.0f of %4.0f  %s\n", r.work, r.outcome, r.library(), s.ratio, s.ourAllocs, s.theirAllocs, s.object)
	}
}

func geomean(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "…"
}
