package vet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

// The test removes bounds from CRDs until their rules cost too much. The advice must fix them.
func TestAdviceMends(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	perCRD, total, crds := 60, 560, 20
	if !full() {
		perCRD, total, crds = 10, 60, 5
	}
	var s adviceStats
	for i, path := range smaller(t, files, 160) {
		crd := corpus.ReadCRD(t, path)
		if len(ours(t, crd, nil)) > 0 {
			continue
		}
		random := rand.New(rand.NewPCG(uint64(i), 4))
		before := s.over
		for _, removed := range removals(t, crd, random) {
			if s.over-before < perCRD && s.over < total {
				s.try(t, crd, removed)
			}
		}
		if s.over > before {
			s.crds++
		}
	}
	t.Logf("%d mutants of %d CRDs over budget, %d that bounds can fix: %d accepted with the advice (%.1f %%), %d of them minimal, %d with largest values", s.over, s.crds, s.mendable, s.accepted, 100*float64(s.accepted)/float64(s.mendable), s.minimal, s.largest)
	if len(files) >= 100 && (s.over < total*500/560 || s.crds < crds) { // fewer CRDs may not have as many
		t.Errorf("want at least %d mutants of %d CRDs", total*500/560, crds)
	}
	if s.accepted*100 < s.mendable*95 || s.minimal < s.accepted {
		t.Errorf("want 95 %% accepted, and all of these minimal")
	}
}

type adviceStats struct{ over, crds, mendable, accepted, minimal, largest int }

func removals(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, random *rand.Rand) (sets [][]string) {
	a, _, err := admit(context.Background(), crd, Config{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, u := range a.units {
		ad := a.newAdvisor(u)
		for _, r := range u.rules {
			ad.of(r)
		}
		for _, key := range sortedKeys(ad.byPath) {
			if b := ad.byPath[key]; !b.missing() {
				for _, version := range u.versions {
					all = append(all, fmt.Sprintf("%s|%s|%s", version, b.path, b.keyword))
				}
			}
		}
	}
	n := len(all)
	sets = append(sets, all)
	for _, i := range random.Perm(n)[:min(n, 50)] {
		sets = append(sets, []string{all[i]})
	}
	for range min(n*n/2, 40) {
		if i, j := random.IntN(n), random.IntN(n); i != j {
			sets = append(sets, []string{all[i], all[j]})
		}
	}
	return sets
}

func (s *adviceStats) try(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, removed []string) {
	t.Helper()
	gone := map[string]int64{}
	for _, key := range removed {
		gone[key] = -1
	}
	crd = follow(crd, gone, "", 0)
	if accepted(t, crd) {
		return
	}
	r := report(t, crd)
	s.over++
	items := adviceOf(r)
	if items == nil {
		t.Logf("%s without %v: no advice: %v", crd.Name, removed, r.Causes)
		return
	}
	s.mendable++
	if !accepted(t, follow(crd, items, "", 0)) {
		t.Errorf("%s without %v: refused with advice %v", crd.Name, removed, items)
		return
	}
	s.accepted++
	minimal, largest := true, true
	for key, v := range items {
		if accepted(t, follow(crd, items, key, -1)) {
			minimal = false
			t.Errorf("%s without %v: advice %v is accepted without %s too", crd.Name, removed, items, key)
		}
		if v < 1<<20 && accepted(t, follow(crd, items, key, roundUp(v))) { // a larger value does not fit into a request
			largest = false // possible for nested lists, because the estimate considers the request size
			t.Logf("%s without %v: advice %v is accepted with a larger %s too", crd.Name, removed, items, key)
		}
	}
	if minimal {
		s.minimal++
	}
	if largest {
		s.largest++
	}
}

func accepted(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) bool {
	t.Helper()
	return len(ours(t, crd, nil)) == 0
}

func report(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *Report {
	t.Helper()
	r, err := VetCRD(context.Background(), crd, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// adviceOf returns nil if bounds do not suffice for some version. The keys are version, path, and keyword.
func adviceOf(r *Report) map[string]int64 {
	items := map[string]int64{}
	for _, v := range r.Versions {
		if !v.Fixable {
			return nil
		}
		for _, rule := range v.Rules { // the version's advice consists of the advice for its rules
			for _, a := range rule.Advice {
				items[fmt.Sprintf("%s|%s|%s", v.Name, a.Path, a.Set)] = a.Value
			}
		}
	}
	return items
}

// The bound `but` gets another value, or is removed if value is -1.
func follow(crd *apiextensionsv1.CustomResourceDefinition, items map[string]int64, but string, value int64) *apiextensionsv1.CustomResourceDefinition {
	c := crd.DeepCopy()
	for i := range c.Spec.Versions {
		v := &c.Spec.Versions[i]
		for key, n := range items {
			var version, path, word string
			split(key, &version, &path, &word)
			if key == but {
				n = value
			}
			if steps, err := engine.ParsePath(path); err == nil && version == v.Name {
				setAt(v.Schema.OpenAPIV3Schema, steps, word, n)
			}
		}
	}
	return c
}

func split(key string, parts ...*string) {
	for i := range parts {
		*parts[i], key, _ = strings.Cut(key, "|")
	}
}

func setAt(s *schemaProps, steps []engine.Step, word string, v int64) {
	if len(steps) == 0 {
		bound := &v
		if v < 0 {
			bound = nil
		}
		switch word {
		case "maxLength":
			s.MaxLength = bound
		case "maxItems":
			s.MaxItems = bound
		case "maxProperties":
			s.MaxProperties = bound
		}
		return
	}
	switch {
	case !steps[0].Any:
		sub := s.Properties[steps[0].Name]
		setAt(&sub, steps[1:], word, v)
		s.Properties[steps[0].Name] = sub
	case s.Items != nil:
		setAt(s.Items.Schema, steps[1:], word, v)
	case s.AdditionalProperties != nil:
		setAt(s.AdditionalProperties.Schema, steps[1:], word, v)
	}
}
