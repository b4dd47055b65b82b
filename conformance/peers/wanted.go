package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// wanted is the target for a kind of work.
type wanted struct {
	work string
	// outcome is empty for accepted and rejected objects.
	outcome string
	// libraries selects objects for which library functions are significant.
	libraries bool
	// median and worst are ratios. bound is a fraction of the ratio that libraries allow.
	median, worst, bound float64
}

var allWanted = []wanted{
	{work: "rules", median: 100, worst: 25},
	{work: "rules", libraries: true, bound: 0.6},
	{work: "write", outcome: "accepted", median: 40},
	{work: "write", outcome: "refused", median: 30},
	{work: "write", libraries: true, median: 20},
}

// required returns the ratio that every object should reach, or the target for the median if no such
// ratio is required.
func (w wanted) required() float64 {
	if w.worst > 0 {
		return w.worst
	}
	return w.median
}

// printTargets prints the measurements compared with the targets.
func (t *table) printTargets(out io.Writer) {
	for _, w := range allWanted {
		var samples []sample
		for k, r := range t.byKind {
			if strings.HasPrefix(k.work, w.work) && strings.HasPrefix(k.outcome, w.outcome) && k.libraries == w.libraries {
				samples = append(samples, r.samples...)
			}
		}
		if len(samples) == 0 {
			continue
		}
		fmt.Fprintf(out, "wanted %-5s %-8s %-8s", w.work, w.outcome, kind{libraries: w.libraries}.library())
		ratios := sorted(samples, func(s sample) float64 { return s.ratio })
		bounds := sorted(samples, func(s sample) float64 { return s.bound })
		compare(out, "median", ratios[len(ratios)/2], w.median, "%.0fx")
		compare(out, "worst", ratios[0], w.worst, "%.0fx")
		compare(out, "of bound, worst", 100*bounds[0], 100*w.bound, "%.0f %%")
		if required := w.required(); required > 0 {
			fmt.Fprintf(out, "  at least %.0fx: %.0f %% of objects", required, 100*share(samples, func(s sample) bool { return s.ratio >= required }))
		}
		fmt.Fprintln(out)
	}
	t.printAllocations(out)
}

func compare(out io.Writer, label string, got, want float64, format string) {
	if want > 0 {
		fmt.Fprintf(out, "  %s "+format+" (wanted "+format+")", label, got, want)
	}
}

// fewAllocations is the allowed number of allocations for the rules of an accepted object, unless a
// hundredth of upstream's is more.
const fewAllocations = 5

func (t *table) printAllocations(out io.Writer) {
	for _, work := range []string{"rules, create", "rules, update"} {
		var samples []sample
		for _, r := range t.byKind {
			if r.work == work && r.outcome == "accepted" {
				samples = append(samples, r.samples...)
			}
		}
		if len(samples) == 0 {
			continue
		}
		none := share(samples, func(s sample) bool { return s.ourAllocs < 1 })
		few := share(samples, func(s sample) bool { return s.ourAllocs <= max(fewAllocations, s.theirAllocs/100) })
		fmt.Fprintf(out, "wanted %-14s accepted: no allocation %.0f %% of objects, at most %d or 1 %% of upstream's %.0f %%\n", work, 100*none, fewAllocations, 100*few)
	}
}

func share(samples []sample, is func(sample) bool) float64 {
	n := len(slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return !is(s) }))
	return float64(n) / float64(len(samples))
}
