package main

import (
	"os"
	"testing"
)

// BenchmarkVet reports the time for vetting the largest CRDs as a fraction of upstream's: for
// rules, and in total.
func BenchmarkVet(b *testing.B) {
	crds, err := largestCRDs(5)
	if err != nil {
		b.Fatal(err)
	}
	if len(crds) == 0 {
		b.Skip("CELADON_CORPUS names no folder with CRDs")
	}
	for _, crd := range crds {
		b.Run(crd.Name, func(b *testing.B) {
			for b.Loop() {
				t, err := timeVet(crd, 3)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(t.ofRules(), "of-rules")
				b.ReportMetric(t.ofTotal(), "of-total")
			}
		})
	}
}

// BenchmarkVetTable prints the same table as make bench-peers.
func BenchmarkVetTable(b *testing.B) {
	for b.Loop() {
		if err := printVet(report{os.Stdout, os.Stdout}, 7, 5); err != nil {
			b.Fatal(err)
		}
	}
}
