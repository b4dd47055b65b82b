package structural

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func compareEncoded(t *testing.T, name string, s *props) {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, before := &props{}, s.DeepCopy()
	before.Enum = slices.Clone(s.Enum) // DeepCopy shares it
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := Encoded(s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", name, data, diff)
	}
	if !reflect.DeepEqual(s, before) {
		t.Errorf("%s: the schema was modified", name)
	}
	if reflect.DeepEqual(s, want) != (got == s) {
		t.Errorf("%s: a copy: %v", name, got != s)
	}
}

func variants(of reflect.Type, depth int) []reflect.Value {
	list := []reflect.Value{reflect.Zero(of)}
	inner := func(elem reflect.Type) []reflect.Value {
		if depth == 0 {
			return []reflect.Value{reflect.Zero(elem)}
		}
		return variants(elem, depth-1)
	}
	switch of.Kind() {
	case reflect.Pointer:
		for _, v := range inner(of.Elem()) {
			p := reflect.New(of.Elem())
			p.Elem().Set(v)
			list = append(list, p)
		}
	case reflect.Slice:
		list = append(list, reflect.MakeSlice(of, 0, 0))
		if of.Elem().Kind() == reflect.Uint8 { // raw JSON
			for _, raw := range []string{"null", " null ", "1", `"a"`, "{}"} {
				list = append(list, reflect.ValueOf([]byte(raw)).Convert(of))
			}
			break
		}
		for _, v := range inner(of.Elem()) {
			list = append(list, reflect.Append(reflect.MakeSlice(of, 0, 1), v))
		}
	case reflect.Map:
		list = append(list, reflect.MakeMap(of))
		for _, v := range inner(of.Elem()) {
			m := reflect.MakeMap(of)
			m.SetMapIndex(reflect.ValueOf("a").Convert(of.Key()), v)
			list = append(list, m)
		}
	case reflect.Struct:
		for i := range of.NumField() {
			for _, v := range inner(of.Field(i).Type) {
				s := reflect.New(of).Elem()
				s.Field(i).Set(v)
				list = append(list, s)
			}
		}
	}
	return list
}

// The values of TestEncoded are zero or empty.
func TestEncoded(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[props]()
	n := 0
	for i := range of.NumField() {
		for _, v := range variants(of.Field(i).Type, 2) {
			s := &props{}
			reflect.ValueOf(s).Elem().Field(i).Set(v)
			compareEncoded(t, of.Field(i).Name, s)
			n++
		}
	}
	both := props{Type: "string"}
	for name, s := range map[string]*props{
		"schema and list of items":       {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &both, JSONSchemas: []props{{}}}},
		"schema and empty list of items": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &both, JSONSchemas: []props{}}},
		"schema and list of dependencies": {Dependencies: apiextensionsv1.JSONSchemaDependencies{
			"a": {Schema: &both, Property: []string{"b"}}, "b": {Schema: &both, Property: []string{}},
		}},
	} {
		compareEncoded(t, name, s)
	}
	t.Logf("%d schemas", n)
}

func TestEncodedMixed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	of := reflect.TypeFor[props]()
	var all [][]reflect.Value
	for i := range of.NumField() {
		all = append(all, variants(of.Field(i).Type, 2))
	}
	for range 1000 {
		s := &props{}
		for i := range of.NumField() {
			if r.IntN(4) == 0 {
				reflect.ValueOf(s).Elem().Field(i).Set(all[i][r.IntN(len(all[i]))])
			}
		}
		compareEncoded(t, "mixed", s)
	}
}

// withoutAllows returns a copy of s as Go code builds it: additionalProperties with a schema lack Allows.
func withoutAllows(s *props) *props {
	out := *s
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Schema: withoutAllows(more.Schema)}
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: withoutAllows(s.Items.Schema)}
	}
	if s.Properties != nil {
		out.Properties = map[string]props{}
	}
	for name, property := range s.Properties {
		out.Properties[name] = *withoutAllows(&property)
	}
	return &out
}

// TestEncodedCorpus compares CRDs of the corpora as Go code builds them with their files.
func TestEncodedCorpus(t *testing.T) {
	t.Parallel()
	n, changed := 0, 0
	for _, file := range corpus.CRDFiles(t) {
		crd := corpus.ReadCRD(t, file)
		for _, v := range crd.Spec.Versions {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				continue
			}
			built := withoutAllows(v.Schema.OpenAPIV3Schema)
			n++
			if got := Encoded(built); got != built {
				changed++
				if !apiequality.Semantic.DeepEqual(got, v.Schema.OpenAPIV3Schema) {
					t.Errorf("%s: %s: differs", file, v.Name)
				}
			}
		}
	}
	t.Logf("%d schemas, %d of which encoding changes", n, changed)
}
