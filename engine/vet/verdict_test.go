package vet

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/corpus"
	"github.com/celadon-cel/celadon/internal/mutant"
	"github.com/celadon-cel/celadon/types"
)

// TestVerdictAlone holds a verdict that comes from what is not plain, and from what
// rules can name, to one that comes from the whole: also its estimates and warnings.
func TestVerdictAlone(t *testing.T) {
	t.Parallel()
	files, seeds := smaller(t, corpus.CRDFiles(t), 120), 4
	if full() {
		files, seeds = corpus.CRDFiles(t), 12
	}
	accepted, refused, rules, short := 0, 0, 0, 0
	for i, file := range files {
		for seed := range seeds {
			crd := corpus.ReadCRD(t, file)
			switch {
			case seed%3 == 1:
				crd = mutant.Of(crd, uint64(seed)).CRD
			case seed%3 == 2:
				mutant.Spoil(rand.New(rand.NewPCG(uint64(i), uint64(seed))), crd)
			}
			given := crd.DeepCopy()
			got, err := VetCRD(context.Background(), crd, Config{VerdictOnly: true})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", file, seed, err)
			}
			if !reflect.DeepEqual(crd, given) {
				t.Fatalf("%s, seed %d: the CRD is changed", file, seed)
			}
			now, err := internal(crd)
			if err != nil || got.Undecided != nil {
				continue
			}
			prepareCreate(now)
			newest := types.Version{Minor: types.Newest}
			a := newAdmission(context.Background(), now, nil, newest, Config{VerdictOnly: true})
			if err := a.run(); err != nil {
				continue
			}
			want := &Report{Name: crd.Name}
			a.report(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, seed %d: the whole (-) and the verdict alone (+)\n%s", file, seed, diff)
			}
			for _, v := range got.Versions {
				rules += len(v.Rules)
			}
			if h := reduce(crd, newest); h != nil && got.Accepted {
				if rest := h.sound(context.Background()); rest != nil && admitRules(context.Background(), rest, h.trees, newest, Config{VerdictOnly: true}) != nil {
					short++
				}
			}
			if got.Accepted {
				accepted++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d accepted, %d of them the short way, %d refused, %d rules", accepted, short, refused, rules)
	if short < accepted*3/4 || refused < accepted/20 {
		t.Error("too few went the short way, or were refused")
	}
}

// TestAlikePlaces: rules that compare objects of two places are refused, however alike
// their schemas are.
func TestAlikePlaces(t *testing.T) {
	t.Parallel()
	object := func() schemaProps {
		return schemaProps{Type: "object", Properties: map[string]schemaProps{"x": {Type: "string", MaxLength: ptr(int64(5))}}}
	}
	for _, rule := range []string{"self.a == self.b", "self.a == oldSelf.b", "self.a == oldSelf.a", "self.a in [self.b]", "dyn(self.a) == self.b", "self.a.x == self.b.x", "[self.a] == [self.b]"} {
		crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{"a": object(), "b": object()}, XValidations: []aRule{{Rule: rule}}})
		if diff := compare(ours(t, crd, nil), upstream(t, crd, nil)); diff != "" {
			t.Errorf("%s: %s", rule, diff)
		}
		r, err := VetCRD(context.Background(), crd, Config{VerdictOnly: true})
		if want := len(upstream(t, crd, nil)) == 0; err != nil || r.Accepted != want {
			t.Errorf("%s: accepted %t, %v", rule, r.Accepted, err)
		}
	}
}
