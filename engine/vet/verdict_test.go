package vet

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

func TestVerdictOnly(t *testing.T) {
	t.Parallel()
	files, seeds := smaller(t, corpus.CRDFiles(t), 120), 4
	if full() {
		files, seeds = corpus.CRDFiles(t), 12
	}
	accepted, rejected := 0, 0
	for i, file := range files {
		for seed := range seeds {
			crd := corpus.ReadCRD(t, file)
			switch {
			case seed%3 == 1:
				crd = brokencrd.Of(crd, uint64(seed)).CRD
			case seed%3 == 2:
				brokencrd.Spoil(rand.New(rand.NewPCG(uint64(i), uint64(seed))), crd)
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
			var complex *celenv.ComplexError // parts that no rule refers to are work as well
			if err := a.run(); err != nil {
				if got.Accepted && !errors.As(err, &complex) {
					t.Fatalf("%s, seed %d: accepted alone, and the whole gives %v", file, seed, err)
				}
				continue
			}
			want := &Report{Name: crd.Name}
			a.report(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, seed %d: the whole (-) and the verdict alone (+)\n%s", file, seed, diff)
			}
			if got.Accepted {
				accepted++
			} else {
				rejected++
			}
		}
	}
	t.Logf("%d accepted, %d rejected", accepted, rejected)
	if accepted < rejected || rejected < accepted/20 {
		t.Error("too few are accepted or rejected")
	}
}

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
		if err != nil {
			t.Fatal(err)
		}
		if want := len(upstream(t, crd, nil)) == 0; r.Accepted != want {
			t.Errorf("%s: accepted %t", rule, r.Accepted)
		}
	}
}

func TestOtherParts(t *testing.T) {
	t.Parallel()
	text := func() schemaProps { return schemaProps{Type: "string"} }
	named := func(name schemaProps) map[string]schemaProps {
		return map[string]schemaProps{"kind": text(), "apiVersion": text(), "metadata": {Type: "object", Properties: map[string]schemaProps{"name": name, "generateName": text()}}}
	}
	long := "self.metadata.name.matches('" + strings.Repeat("a", 160) + "')"
	root := func(props map[string]schemaProps, rule string) *apiextensionsv1.CustomResourceDefinition {
		crd := unitCRD(schemaProps{Type: "object"})
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &schemaProps{Type: "object", Properties: props, XValidations: []aRule{{Rule: rule}}}
		return crd
	}
	embedded := func(rule string) *apiextensionsv1.CustomResourceDefinition {
		return unitCRD(schemaProps{Type: "object", XEmbeddedResource: true, Properties: named(text()), XValidations: []aRule{{Rule: rule}}})
	}
	versions := func(a, b schemaProps) *apiextensionsv1.CustomResourceDefinition {
		color := schemaProps{Type: "string", MaxLength: ptr(int64(9)), Default: jsonDefault(`"red"`)}
		crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{"color": color, "a": a}})
		second := *unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{"color": color, "a": b}}).Spec.Versions[0].DeepCopy()
		second.Name, second.Storage = "v2", false
		crd.Spec.Versions = append(crd.Spec.Versions, second)
		crd.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}}
		return crd
	}
	object := func(def string) schemaProps {
		return schemaProps{Type: "object", Default: jsonDefault(def), Properties: map[string]schemaProps{"x": {Type: "integer"}, "y": {Type: "integer"}}}
	}
	empty := text()
	empty.Definitions = apiextensionsv1.JSONSchemaDefinitions{}
	for name, crd := range map[string]*apiextensionsv1.CustomResourceDefinition{
		"a name without a bound":            root(named(text()), long),
		"a name that is a duration":         root(named(schemaProps{Type: "string", Format: "duration"}), "self.metadata.name.contains('x')"),
		"the embedded name":                 embedded(long),
		"a default with other white space":  versions(object(`{"x":1,"y":2}`), object(`{"x": 1, "y": 2}`)),
		"a default in another order":        versions(object(`{"x":1,"y":2}`), object(`{"y":2,"x":1}`)),
		"definitions that are there, empty": versions(text(), empty),
		"the same":                          versions(text(), text()),
		"another default":                   versions(object(`{"x":1}`), object(`{"x":2}`)),
	} {
		theirs := upstream(t, crd, nil)
		if diff := compare(ours(t, crd, nil), theirs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		alone, err := VetCRD(context.Background(), crd, Config{VerdictOnly: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if alone.Accepted != (len(theirs) == 0) {
			t.Errorf("%s: accepted alone %t, upstream %v", name, alone.Accepted, theirs)
		}
	}
}
