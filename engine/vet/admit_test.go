package vet

import (
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestCorpusVerdicts(t *testing.T) {
	t.Parallel()
	rules, rejected, differences := 0, 0, 0
	var mine, theirs time.Duration
	files := sample(corpus.CRDFiles(t))
	for _, path := range files {
		crd := corpus.ReadCRD(t, path)
		start := time.Now()
		want := upstream(t, crd, nil)
		theirs += time.Since(start)
		start = time.Now()
		got := ours(t, crd, nil)
		mine += time.Since(start)
		if d := compare(got, want); d != "" {
			differences++
			t.Errorf("%s:%s", filepath.Base(path), d)
		}
		if len(want) > 0 {
			rejected++
		}
		rules += countRules(crd)
	}
	t.Logf("%d CRDs with %d rules, %d refused: %d differences; ours %v, upstream's %v", len(files), rules, rejected, differences, mine, theirs)
}

func TestMutantVerdicts(t *testing.T) {
	t.Parallel()
	files := smaller(t, corpus.CRDFiles(t), 60)
	n, compared, rejected, causes, differences := 700, 0, 0, 0, 0
	made := map[string]int{}
	for seed := range n {
		crd := corpus.ReadCRD(t, files[seed%len(files)])
		m := brokencrd.Of(crd, uint64(seed))
		for _, name := range m.Changes {
			made[name]++
		}
		for i, c := range [][2]*apiextensionsv1.CustomResourceDefinition{{m.CRD, nil}, {m.CRD, crd}, {crd, m.CRD}, {m.CRD, m.CRD}} {
			if i > 0 && seed%4 != i {
				continue
			}
			want, got := upstream(t, c[0], c[1]), ours(t, c[0], c[1])
			compared++
			causes += len(want)
			if len(want) > 0 {
				rejected++
			}
			if d := compare(got, want); d != "" {
				differences++
				t.Errorf("seed %d (%s), case %d of %s:%s", seed, m.Changes, i, crd.Name, d)
			}
		}
	}
	t.Logf("%d mutants of %d CRDs, %d comparisons, %d refused with %d causes: %d differences", n, len(files), compared, rejected, causes, differences)
	for _, name := range brokencrd.Changes() {
		if made[name] == 0 && len(files) == 60 { // few CRDs may offer no opportunity for a change
			t.Errorf("change %q was never made", name)
		}
	}
}
