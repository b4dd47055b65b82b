package compare

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

var corpusWrites = flag.Int("corpus-writes", 2000, "how many writes of CELADON_CORPUS a run compares")

func TestCorpus(t *testing.T) {
	folder, versions := oracles(t)
	all, crds := writesOfCorpus(t), crdsOfCorpus(t)
	for _, v := range versions {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, folder, v)
			for _, c := range crds {
				if err := r.Case(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range all {
				if err := r.Write(t.Context(), w.name, w.Write); err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
			}
			check(t, r)
		})
	}
}

func crdsOfCorpus(t *testing.T) (all []*Case) {
	t.Helper()
	for _, file := range corpus.CRDFiles(t) {
		crd := corpus.ReadCRD(t, file)
		crd.Spec.Conversion = nil
		data, err := json.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &Case{Name: filepath.Base(file), CRD: data})
	}
	return all
}

type corpusWrite struct {
	*Write
	name, crd string
}

func writesOfCorpus(t *testing.T) (all []corpusWrite) {
	t.Helper()
	for _, folder := range corpus.Folders(t) {
		var cases []corpus.Case
		for c := range corpus.Cases(t, folder) {
			cases = append(cases, c)
		}
		crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
		for i, c := range cases {
			if i%max(1, len(cases) / *corpusWrites) != 0 {
				continue
			}
			if crds[c.CRD] == nil {
				crds[c.CRD] = corpus.ReadCRD(t, filepath.Join(folder, filepath.FromSlash(c.CRD)))
				crds[c.CRD].Spec.Conversion = nil
			}
			w, err := NewWrite(crds[c.CRD], c.Version, c.Subresource, c.Object, c.OldObject)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, corpusWrite{w, c.CRD + " " + c.Name, c.CRD + " " + c.Version})
		}
	}
	slices.SortStableFunc(all, func(a, b corpusWrite) int { return strings.Compare(a.crd, b.crd) })
	return all
}
