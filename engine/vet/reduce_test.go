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
				spoil(r, m)
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

// spoil changes something in some node of a CRD's schemas, in a way that the server
// may refuse.
func spoil(r *rand.Rand, crd *apiextensionsv1.CustomResourceDefinition) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	raw := func(list ...string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(pick(list...))} }
	number := func() *float64 { return ptr(float64(r.IntN(20) - 5)) }
	size := func() *int64 { return ptr(int64(r.IntN(12) - 2)) }
	type props = apiextensionsv1.JSONSchemaProps
	sub := func() props {
		s := props{Type: pick("", "", "string", "object", "integer")}
		if r.IntN(2) == 0 {
			s.Required = []string{pick("a", "name", "spec")}
		}
		if r.IntN(3) == 0 {
			s.Properties = map[string]props{pick("a", "name", "spec", "metadata"): {Pattern: pick("", "[", "a")}}
		}
		return s
	}
	edit := func(s *props) {
		switch r.IntN(34) {
		case 0:
			s.Type = pick("", "string", "integer", "number", "boolean", "object", "array", "null", "x")
		case 1, 2, 3, 4:
			s.Default = raw(`""`, `"a"`, `"TCP"`, `1`, `-7`, `99999999999`, `1.5`, `true`, `null`, `[]`, `{}`, `[1]`, `{"a":1}`, `"2020-01-01"`)
		case 5:
			s.Nullable = !s.Nullable
		case 6:
			s.Pattern = pick("", "[", "(", "^a*$", `\d`, "(?<n>a)", "a{1001}", `\Z`)
		case 7:
			s.XListType = ptr(pick("set", "map", "atomic", "granular", ""))
		case 8:
			s.XListMapKeys = []string{pick("name", "type", "a"), pick("name", "key", "b")}[:1+r.IntN(2)]
		case 9:
			s.XMapType = ptr(pick("atomic", "granular", "set", ""))
		case 10:
			s.XPreserveUnknownFields = ptr(r.IntN(4) > 0)
		case 11:
			s.XEmbeddedResource = true
		case 12:
			s.XIntOrString = true
		case 13:
			s.XIntOrString, s.Type, s.AnyOf = true, pick("", "", "string"), []props{{Type: "integer"}, {Type: pick("string", "number")}}
		case 14:
			s.AnyOf = []props{sub(), sub()}
		case 15:
			s.AllOf = []props{sub()}
		case 16:
			s.OneOf = []props{sub(), sub()}
		case 17:
			n := sub()
			s.Not = &n
		case 18:
			s.Items = nil
		case 19:
			n := sub()
			s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &n}
		case 20:
			n := sub()
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.IntN(2) == 0, Schema: &n}
		case 21:
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.IntN(2) == 0}
		case 22:
			s.Properties = nil
		case 23:
			if s.Properties == nil {
				s.Properties = map[string]props{}
			}
			s.Properties[pick("metadata", "kind", "apiVersion", "name", "a", "x y")] = sub()
		case 24:
			s.Enum = []apiextensionsv1.JSON{*raw(`"a"`, `1`, `null`), *raw(`"TCP"`, `true`, `"a"`)}
		case 25:
			s.Minimum, s.Maximum, s.ExclusiveMinimum = number(), number(), r.IntN(3) == 0
		case 26:
			s.MinLength, s.MaxLength = size(), size()
		case 27:
			s.Format = pick("date", "int32", "int64", "byte", "nope", "uuid", "float")
		case 28:
			s.UniqueItems = true
		case 29:
			s.MultipleOf = number()
		case 30:
			s.ID, s.Title = pick("", "a"), "t"
		case 31:
			s.Ref = ptr(pick("", "#/a"))
		case 32:
			s.MinItems, s.MaxProperties = size(), size()
		case 33:
			s.Example, s.ExternalDocs = raw(`1`), &apiextensionsv1.ExternalDocumentation{URL: "a"}
		}
	}
	n := 0
	mutant.EachSchema(crd, func(*props) { n++ })
	if n == 0 {
		return
	}
	at := r.IntN(n)
	mutant.EachSchema(crd, func(s *props) {
		if at--; at == -1 {
			edit(s)
		}
	})
}

// TestSchemaFields fails when a schema can have more fields than reduce.go knows.
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
