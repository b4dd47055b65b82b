package check

import (
	"context"
	"os"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
)

// benchCRD and benchObjects are read by the benchmarks; HTTPRoutes are the
// usual ones.
func benchPaths(b *testing.B) (crd, objects string) {
	b.Helper()
	crd, objects = os.Getenv("CELADON_BENCH_CRD"), os.Getenv("CELADON_BENCH_OBJECTS")
	if crd == "" || objects == "" {
		return "../../../../examples/crontab/crd.yaml", "../../../../examples/crontab/objects"
	}
	return crd, objects
}

// BenchmarkReadCRD reads and does not compile.
func BenchmarkReadCRD(b *testing.B) {
	crd, _ := benchPaths(b)
	for b.Loop() {
		if _, err := readCRDs(context.Background(), nil, []string{crd}, input.Selection{}, crdUse{}, engine.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileCRD reads and compiles.
func BenchmarkCompileCRD(b *testing.B) {
	crd, _ := benchPaths(b)
	for b.Loop() {
		d, err := readCRDs(context.Background(), nil, []string{crd}, input.Selection{}, crdUse{}, engine.Config{})
		if err != nil {
			b.Fatal(err)
		}
		for _, def := range d.all {
			def.once.Do(def.compile)
		}
	}
}
