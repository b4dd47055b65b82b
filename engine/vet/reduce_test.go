package vet

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/corpus"
	"github.com/celadon-cel/celadon/internal/mutant"
	"github.com/celadon-cel/celadon/types"
)

// TestReducedFindsNothing spoils CRDs without rules, and holds that the server's
// function finds nothing in the whole where it finds nothing in what is not plain.
func TestReducedFindsNothing(t *testing.T) {
	t.Parallel()
	files, seeds := smaller(t, corpus.CRDFiles(t), 120), 20
	if full() {
		files, seeds = corpus.CRDFiles(t), 60
	}
	all, short, refused := 0, 0, 0
	for i, file := range files {
		crd := corpus.ReadCRD(t, file)
		mutant.EachSchema(crd, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
		for seed := range seeds {
			m := crd.DeepCopy()
			r := rand.New(rand.NewPCG(uint64(i), uint64(seed)))
			for range seed % 3 {
				mutant.Spoil(r, m)
			}
			if _, err := internal(m); err != nil {
				continue
			}
			errs := upstream(t, m, nil)
			h := reduce(m, types.Version{Minor: types.Newest})
			reduced := h != nil && h.sound(context.Background()) != nil
			switch {
			case reduced && len(errs) > 0:
				t.Fatalf("%s, seed %d: nothing found in what is not plain, but %v", file, seed, errs[0])
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

// TestSchemaFields fails when a schema can have more fields than plain.go knows.
func TestSchemaFields(t *testing.T) {
	t.Parallel()
	known := strings.Fields(`ID Schema Ref Description Type Nullable Format Title Default Maximum ExclusiveMaximum Minimum ExclusiveMinimum
		MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Enum MaxProperties MinProperties Required Items AllOf OneOf AnyOf Not
		Properties AdditionalProperties PatternProperties Dependencies AdditionalItems Definitions ExternalDocs Example XPreserveUnknownFields
		XEmbeddedResource XIntOrString XListMapKeys XListType XMapType XValidations`)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[apiextensions.JSONSchemaProps]()) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("what is plain does not look at %s", f.Name)
		}
	}
}
