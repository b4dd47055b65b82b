package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

func benchPaths(b *testing.B) (crd, objects string) {
	b.Helper()
	crd, objects = os.Getenv("CELADON_BENCH_CRD"), os.Getenv("CELADON_BENCH_OBJECTS")
	if crd == "" || objects == "" {
		return crontabCRD, "../../examples/crontab/objects"
	}
	return crd, objects
}

func BenchmarkCheck(b *testing.B) {
	crd, objects := benchPaths(b)
	a := &app{stdout: io.Discard, stderr: io.Discard}
	for b.Loop() {
		a.run(context.Background(), []string{"check", "--crd", crd, objects})
	}
}

func BenchmarkCheckOne(b *testing.B) {
	a := &app{stdout: io.Discard, stderr: io.Discard}
	for b.Loop() {
		a.run(context.Background(), []string{"check", "--crd", crontabCRD, "../../examples/crontab/objects/good.yaml"})
	}
}

func BenchmarkDecode(b *testing.B) {
	_, objects := benchPaths(b)
	for b.Loop() {
		input.Scan(nil, []string{objects}, func() {}, func(c input.Chunk) bool {
			return c.Each(func(*input.Document) bool { return true })
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	_, objects := benchPaths(b)
	for b.Loop() {
		_ = filepath.WalkDir(objects, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var obj map[string]any
			return yaml.Unmarshal(data, &obj)
		})
	}
}
