package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSources checks that the programs in the repository are those that the command writes.
func TestSources(t *testing.T) {
	t.Parallel()
	for _, p := range programs {
		for _, m := range p.minors {
			files, err := p.sources(m)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range files {
				path := filepath.Join(root, p.folder(m), name)
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s differs: run go generate\n%s", path, diff)
				}
			}
		}
	}
}

// TestVersions checks that each module requires the libraries of its minor.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, p := range programs {
		for _, m := range p.minors {
			f, err := readModFile(filepath.Join(root, p.folder(m), "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range f.Require {
				if r.Path == upstream && r.Version != m.libraries() {
					t.Errorf("%s: got %s %s, want %s", p.folder(m), r.Path, r.Version, m.libraries())
				}
			}
		}
	}
}
