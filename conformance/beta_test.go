package conformance

import (
	"fmt"
	"testing"

	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func TestBetaAsStored(t *testing.T) {
	all := groups(readCorpora(t).Cases)
	if !level.Long() {
		all = sample(all, 2, 1)
	}
	s, report := startServer(t), NewReport("beta")
	seen := map[string]bool{}
	for _, g := range all {
		crd := g.CRD.Definition
		if seen[g.CRD.Path] {
			continue
		}
		seen[g.CRD.Path] = true
		forms, err := betas(crd)
		if err != nil {
			report.Error(g.CRD.Path, err)
			continue
		}
		for i, form := range forms {
			id := fmt.Sprintf("%s/%s/%d", g.Cases[0].Project, crd.Name, i)
			ours, err := catalog.Decode(form)
			if err != nil {
				report.Error(id, err)
				continue
			}
			out, err := s.convertedBeta(t.Context(), form, ours)
			if err != nil {
				report.Error(id, err)
				continue
			}
			report.Add(id, out...)
		}
		if _, err := s.store.Delete(t.Context(), crdKey(crd.Name)); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, report)
}
