package vet

import "testing"

// BenchmarkVerdict vets the largest CRDs of the corpus, less what is not about
// rules.
func BenchmarkVerdict(b *testing.B) {
	for _, path := range largest(b, corpusFiles(b), 5) {
		crd := readCRD(b, path)
		b.Run(crd.Name, func(b *testing.B) {
			for b.Loop() {
				ours(b, crd, nil)
			}
		})
	}
}
