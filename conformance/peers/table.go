package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

func print(out io.Writer, rows []row) {
	for _, r := range rows {
		s := slices.Sorted(slices.Values(r.ratios))
		fmt.Fprintf(out, "%-62s %-14s %4d objects  geomean %7.1fx  median %7.1fx  worst %7.1fx  most allocs %5.0f\n",
			shorten(r.crd, 62), r.work, len(s), geomean(s), s[len(s)/2], s[0], r.allocs)
	}
}

func summarize(out io.Writer, rows []row) {
	byWork := map[string]*row{}
	var works []string
	for _, r := range rows {
		if byWork[r.work] == nil {
			byWork[r.work] = &row{crd: "all", work: r.work}
			works = append(works, r.work)
		}
		total := byWork[r.work]
		total.ratios = append(total.ratios, r.ratios...)
		total.allocs = max(total.allocs, r.allocs)
	}
	for _, work := range works {
		print(out, []row{*byWork[work]})
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
