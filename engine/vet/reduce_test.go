package vet

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

// TestReducedFindsNothing mutates CRDs without rules and checks that the server's function accepts
// the whole CRD if it accepts the reduced CRD.
func TestReducedFindsNothing(t *testing.T) {
	t.Parallel()
	files, seeds := smaller(t, corpus.CRDFiles(t), 120), 20
	if full() {
		files, seeds = corpus.CRDFiles(t), 60
	}
	all, short, refused := 0, 0, 0
	for i, file := range files {
		crd := corpus.ReadCRD(t, file)
		brokencrd.EachSchema(crd, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
		for seed := range seeds {
			m := crd.DeepCopy()
			r := rand.New(rand.NewPCG(uint64(i), uint64(seed)))
			for range seed % 3 {
				brokencrd.Spoil(r, m)
			}
			if _, err := internal(m); err != nil {
				continue
			}
			errs := upstream(t, m, nil)
			h := reduce(m, types.Version{Minor: types.Newest}, false)
			reduced := h != nil && h.sound(context.Background(), types.Version{Minor: types.Newest}) != nil
			switch {
			case reduced && len(errs) > 0:
				t.Fatalf("%s, seed %d: nothing found in the non-plain part, but %v", file, seed, errs[0])
			case reduced:
				short++
			case len(errs) > 0:
				refused++
			}
			all++
		}
	}
	t.Logf("%d CRDs: %d refused, %d not, of which %d went the short way", all, refused, all-refused, short)
	if len(files) > 60 && (short < (all-refused)*3/4 || refused < all/10) {
		t.Error("too few went the short way, or were refused")
	}
}

// TestTakenApart compares the single walk of reducer with the three walks that it replaces: the
// tree of rules, the work of patterns, and the work of defaults.
func TestTakenApart(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	if !full() {
		files = smaller(t, files, 300)
	}
	trees, matched := 0, 0
	for i, file := range files {
		crd := corpus.ReadCRD(t, file)
		if i%2 == 1 {
			brokencrd.Spoil(rand.New(rand.NewPCG(uint64(i), 1)), crd)
		}
		now, err := internal(crd)
		if err != nil {
			continue
		}
		list := units(&now.Spec)
		for _, v := range crd.Spec.Versions {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				continue
			}
			u := list[0]
			if now.Spec.Validation == nil { // all versions share one schema
				list = list[1:]
			}
			r := reducer{patterns: patterns{}, minor: types.Newest, trees: true, work: quickWork(patterns{})}
			got, work := r.node(v.Schema.OpenAPIV3Schema, metadataFields), quickWork(patterns{})
			if r.failed || r.work.over != nil {
				continue
			}
			if want := work.node("", v.Schema.OpenAPIV3Schema); !near(got.perByte, want) || !near(r.work.defaults, work.defaults) {
				t.Errorf("%s: %s: a byte takes %g, defaults %g, want %g, %g", file, v.Name, got.perByte, r.work.defaults, want, work.defaults)
			} else if want > 0 {
				matched++
			}
			if got, want := outline(got.tree), outline(u.tree); got != want {
				t.Errorf("%s: %s: the tree is\n%s\nwant\n%s", file, v.Name, got, want)
			} else if got != "" {
				trees++
			}
		}
	}
	t.Logf("%d trees, %d schemas with patterns", trees, matched)
	if len(files) > 60 && (trees == 0 || matched == 0) {
		t.Error("nothing was compared")
	}
}

// near reports whether a and b are equal up to rounding, because the order of summation differs.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }

// outline returns a tree of rules as a string.
func outline(b *branch) string {
	if b == nil {
		return ""
	}
	s := b.props
	text := fmt.Sprintf("\n%d %q %s %t", b.kind, b.name, s.Type, s.AdditionalProperties != nil)
	if s.MaxItems != nil {
		text += fmt.Sprint(" ", *s.MaxItems)
	}
	for i := range s.XValidations {
		text += " " + s.XValidations[i].Rule
	}
	for _, child := range b.children {
		text += outline(child)
	}
	return text + "."
}

// TestManyKeys checks that a list with many keys is not reduced.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{maxKeys, maxKeys + 1} {
		items := schemaProps{Type: "object", Properties: map[string]schemaProps{}}
		list := schemaProps{Type: "array", XListType: ptr("map"), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
		for i := range n {
			key := fmt.Sprint("k", i)
			items.Properties[key], items.Required = schemaProps{Type: "string"}, append(items.Required, key)
			list.XListMapKeys = append(list.XListMapKeys, key)
		}
		crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{"list": list}})
		if h := reduce(crd, types.Version{Minor: types.Newest}, true); (h != nil) != (n <= maxKeys) {
			t.Errorf("%d keys: reduced %t", n, h != nil)
		}
		if r, err := VetCRD(context.Background(), crd, Config{VerdictOnly: true}); err != nil || !r.Accepted {
			t.Errorf("%d keys: %v, %v", n, r, err)
		}
	}
}

// TestSchemaFields fails if schemas have fields that plain.go does not handle.
func TestSchemaFields(t *testing.T) {
	t.Parallel()
	known := strings.Fields(`ID Schema Ref Description Type Nullable Format Title Default Maximum ExclusiveMaximum Minimum ExclusiveMinimum
		MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Enum MaxProperties MinProperties Required Items AllOf OneOf AnyOf Not
		Properties AdditionalProperties PatternProperties Dependencies AdditionalItems Definitions ExternalDocs Example XPreserveUnknownFields
		XEmbeddedResource XIntOrString XListMapKeys XListType XMapType XValidations`)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[apiextensions.JSONSchemaProps]()) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("the check for plain schemas ignores %s", f.Name)
		}
	}
}
