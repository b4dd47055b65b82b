package search

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// The search does not see the maintainers' objects.
func TestFindsWhatMaintainersReject(t *testing.T) {
	if !level.Long() {
		t.Skip("CELADON_LEVEL=long searches for each rule that alone rejects a maintainers' case")
	}
	asked, missed := 0, 0
	for _, folder := range corpus.Folders(t) {
		shown := map[string]map[engine.RuleRef]bool{}
		searches := map[string]*Search{}
		for c := range corpus.Cases(t, folder) {
			s := searches[c.CRD+" "+c.Version]
			if s == nil {
				s = searchOf(t, filepath.Join(folder, c.CRD), c.Version)
				searches[c.CRD+" "+c.Version] = s
			}
			if ref, ok := rejectsAlone(t, s, c); ok {
				key := filepath.Join(folder, c.CRD)
				if shown[key] == nil {
					shown[key] = map[engine.RuleRef]bool{}
				}
				shown[key][ref] = true
			}
		}
		for _, file := range slices.Sorted(maps.Keys(shown)) {
			crd, _ := strings.CutPrefix(file, folder+"/")
			for ref := range shown[file] {
				s := searches[crd+" "+ref.Version]
				asked++
				a, err := s.Find(t.Context(), ref, Rejected)
				if err != nil {
					t.Errorf("%s: %v", file, err)
				} else if a.Status != Found || !a.Witness.Alone {
					missed++
					t.Logf("%s: %s: %s: %s after %d", filepath.Base(file), ref.Path, ref.Rule, a.Status, a.Searched)
				}
			}
		}
	}
	t.Logf("%d rules alone reject a maintainers' case; for %d of them, no such object was found", asked, missed)
	if missed > 0 {
		t.Errorf("%d rules that maintainers' cases refuse alone are not found so", missed)
	}
}

func searchOf(t *testing.T, file, version string) *Search {
	t.Helper()
	crd := corpus.ReadCRD(t, file)
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Fatalf("%s: %v", file, err)
	}
	s, err := New(crd, e, version, Config{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

func rejectsAlone(t *testing.T, s *Search, c corpus.Case) (engine.RuleRef, bool) {
	w := &candidate{op: Create, obj: c.Object, old: c.OldObject, split: s.split}
	switch {
	case c.Subresource == "status":
		w.op = Status
	case c.OldObject != nil:
		w.op = Update
	}
	h := s.newSolver(t.Context(), "", 10)
	v, err := h.oracle.decide(w)
	if err != nil {
		t.Errorf("%s: %v", c.CRD, err)
		return engine.RuleRef{}, false
	}
	if v.undecided || v.accepted() || v.complaints[0].cause.Rule == nil {
		return engine.RuleRef{}, false
	}
	ref := *v.complaints[0].cause.Rule
	other := slices.ContainsFunc(v.complaints, func(c complaint) bool {
		return c.old || c.cause.Rule == nil || *c.cause.Rule != ref
	})
	return ref, !other
}
