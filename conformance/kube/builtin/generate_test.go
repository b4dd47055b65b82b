package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

func TestGenerated(t *testing.T) {
	t.Parallel()
	schemas, conditional, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(schemasFile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if was, err := io.ReadAll(r); err != nil || !bytes.Equal(was, schemas) {
		t.Errorf("%s is not up to date (%v): run go generate ./builtin", schemasFile, err)
	}
	listed, err := os.ReadFile(conditionalFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(listed), string(conditional)); diff != "" {
		t.Errorf("%s is not up to date: run go generate ./builtin\n%s", conditionalFile, diff)
	}
}

// TestDefaults uses random objects that the generator did not use. Only conditional defaults may differ.
func TestDefaults(t *testing.T) {
	t.Parallel()
	f, err := readDocuments()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(conditionalFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(strings.ReplaceAll(string(list), " ", separator))
	catalog, err := builtin.Newest()
	if err != nil {
		t.Fatal(err)
	}
	s := scheme()
	for _, k := range f.Kinds {
		id := schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
		if !isRecorded(k) {
			continue
		}
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			props, err := catalog.Schema(id)
			if err != nil {
				t.Fatal(err)
			}
			node, err := structural.Node(props)
			if err != nil {
				t.Fatal(err)
			}
			r := newRecorder(s, f, k)
			g := r.sampler(1 << 32)
			for range 1000 {
				object := g.object()
				want, err := r.kubernetes(object)
				if err != nil {
					t.Fatal(err)
				}
				got := runtime.DeepCopyJSON(object)
				structural.Default(got, node)
				for path, missing := range differences(r.root(), f, got, want) {
					name := id.GroupVersion().String() + separator + k.Kind + path
					if !isListed(listed, name) {
						t.Errorf("%s differs (missing: %t) for %v", name, missing, object)
					}
				}
			}
		})
	}
}

const separator = "/"

func isListed(listed []string, path string) bool {
	return slices.ContainsFunc(listed, func(above string) bool {
		rest, ok := strings.CutPrefix(path, above)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
	})
}

func isRecorded(k *kind) bool {
	return slices.Contains(recorded, k.gvk())
}
