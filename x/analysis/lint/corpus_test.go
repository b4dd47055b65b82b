package lint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/analysis/lint"
)

func TestLintCorpus(t *testing.T) {
	files, every := corpus.CRDFiles(t), 24
	if level.Long() {
		every = 1
	}
	counts := map[string]int{}
	out := io.Discard
	if to := os.Getenv("LINT_OUT"); to != "" {
		f, err := os.Create(to)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	for i, file := range files {
		if i%every > 0 {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
		if err != nil {
			t.Fatal(err)
		}
		lints, err := lint.Find(context.Background(), crd, report, lint.Config{})
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(file), err)
		}
		for _, l := range lints {
			counts[l.Name]++
			if l.Witness == nil && l.Proof == nil {
				continue
			}
			fmt.Fprintf(out, "%s %s %s %d [%s]\n  %s\n  %s\n", filepath.Base(file), l.Version, l.Path, l.Index, l.Name, l.Rule, l.Message)
			if l.Witness != nil {
				text, _ := json.Marshal(l.Witness.Object["spec"])
				fmt.Fprintf(out, "  object %s\n", text)
				counts[fmt.Sprintf("mends %d", len(l.Rewrites))]++
			}
			for _, m := range l.Rewrites {
				fmt.Fprintf(out, "  keeps %v, proof %v, searched %d: %s\n", m.Keeps, m.Proof, m.Searched, m.Rule)
			}
		}
	}
	t.Log(counts)
}
