package verdict

import (
	"context"
	"os"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
)

func benchPaths(b *testing.B) (crd, objects string) {
	b.Helper()
	crd, objects = os.Getenv("CELADON_BENCH_CRD"), os.Getenv("CELADON_BENCH_OBJECTS")
	if crd == "" || objects == "" {
		return "../../../../../examples/crontab/crd.yaml", "../../../../../examples/crontab/objects"
	}
	return crd, objects
}

func scanned(path string) batch.Source {
	return func(wait func(), yield func(input.Chunk) bool) {
		input.Selection{}.Scan(nil, []string{path}, wait, yield)
	}
}

func BenchmarkReadCRD(b *testing.B) {
	crd, _ := benchPaths(b)
	filter := &resource.Filter{Named: []string{crd}}
	for b.Loop() {
		if _, err := Read(context.Background(), scanned(crd), filter, Use{}, engine.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileCRD(b *testing.B) {
	crd, _ := benchPaths(b)
	for b.Loop() {
		d, err := Read(context.Background(), scanned(crd), &resource.Filter{Named: []string{crd}}, Use{}, engine.Config{})
		if err != nil {
			b.Fatal(err)
		}
		for _, def := range d.All {
			def.once.Do(def.compile)
		}
	}
}
