package vet

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

// conformance/peers compares the time with upstream's.
func BenchmarkVerdict(b *testing.B) {
	for _, path := range largest(b, corpus.CRDFiles(b), 5) {
		crd := corpus.ReadCRD(b, path)
		b.Run(crd.Name, func(b *testing.B) {
			for b.Loop() {
				ours(b, crd, nil)
			}
		})
	}
}

func largest(t testing.TB, files []string, n int) []string {
	t.Helper()
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(bytesOf(t, b), bytesOf(t, a)) })
	return files[:min(n, len(files))]
}

func bytesOf(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
