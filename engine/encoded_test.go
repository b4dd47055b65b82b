package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
)

func builtCRD(spec apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "ts.g.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "g.io", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "ts", Kind: "T"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		},
	}
}

func compareBuilt(t *testing.T, name string, crd *apiextensionsv1.CustomResourceDefinition, specs ...any) {
	t.Helper()
	data, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	built, err := engine.Compile(crd, engine.Config{})
	decoded, wantErr := engine.CompileCRD(data, engine.Config{})
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%s: got %v, want %v: %s", name, err, wantErr, data)
		return
	}
	if built == nil {
		return
	}
	for _, spec := range specs {
		req := engine.Request{Object: map[string]any{"apiVersion": "g.io/v1", "kind": "T", "metadata": map[string]any{"name": "a"}, "spec": spec}}
		got, err := built.Validate(t.Context(), req)
		want, wantErr := decoded.Validate(t.Context(), req)
		if err != nil || wantErr != nil {
			t.Errorf("%s: %v: got %v, want %v", name, spec, err, wantErr)
			continue
		}
		if diff := cmp.Diff([]any{want.Allowed, want.Failure, want.Warnings, want.Object, want.Cost}, []any{got.Allowed, got.Failure, got.Warnings, got.Object, got.Cost}); diff != "" {
			t.Errorf("%s: %v: %s (-JSON +Go):\n%s", name, spec, data, diff)
		}
	}
}

// A crdBuilder sets fields as Go code does, including fields that encoding changes.
type crdBuilder struct{ *rand.Rand }

func (b crdBuilder) schema(depth int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: []string{"object", "object", "array", "string", "integer"}[b.IntN(5)], Nullable: b.IntN(4) == 0}
	if depth == 0 && (s.Type == "object" || s.Type == "array") {
		s.Type = "string"
	}
	below := func() *apiextensionsv1.JSONSchemaProps { sub := b.schema(depth - 1); return &sub }
	switch s.Type {
	case "object":
		if b.IntN(2) == 0 {
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: b.IntN(2) == 0}
			if b.IntN(3) > 0 {
				s.AdditionalProperties.Schema = below()
			}
			break
		}
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for range b.IntN(3) {
			s.Properties[string('a'+rune(b.IntN(3)))] = *below()
		}
	case "array":
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: below()}
		if b.IntN(3) == 0 {
			s.Items.JSONSchemas = []apiextensionsv1.JSONSchemaProps{}
		}
	}
	for _, set := range []func(){
		func() { s.Required = []string{} }, func() { s.Enum = []apiextensionsv1.JSON{} }, func() { s.AllOf = []apiextensionsv1.JSONSchemaProps{} },
		func() { s.Default = &apiextensionsv1.JSON{} }, func() { s.Default = &apiextensionsv1.JSON{Raw: []byte("null")} },
		func() { s.Enum = []apiextensionsv1.JSON{{Raw: []byte("null")}, {Raw: []byte("1")}, {}} },
		func() { s.XListMapKeys = []string{} }, func() { s.XListType = new(string) }, func() { s.MaxLength = new(int64) }, func() { s.Minimum = new(float64) },
		func() { s.XValidations = apiextensionsv1.ValidationRules{} }, func() { s.XPreserveUnknownFields = new(bool) },
		func() { s.AnyOf = []apiextensionsv1.JSONSchemaProps{{Enum: []apiextensionsv1.JSON{}}} }, func() { s.Not = &apiextensionsv1.JSONSchemaProps{Enum: []apiextensionsv1.JSON{{}}} },
		func() {
			s.XValidations = apiextensionsv1.ValidationRules{{Rule: "self == oldSelf || true", OptionalOldSelf: new(bool)}}
		},
	} {
		if b.IntN(12) == 0 {
			set()
		}
	}
	return s
}

func (b crdBuilder) value(depth int) any {
	switch n := b.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return int64(b.IntN(2))
	case n == 2 || depth == 0:
		return []string{"", "a"}[b.IntN(2)]
	case n == 3:
		return []any{b.value(depth - 1)}
	}
	return map[string]any{"a": b.value(depth - 1), "b": b.value(depth - 1), "k": b.value(depth - 1)}
}

func TestBuiltCRDs(t *testing.T) {
	t.Parallel()
	text := &apiextensionsv1.JSONSchemaProps{Type: "string"}
	labels := builtCRD(apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: text}})
	e, err := engine.Compile(labels, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Validate(t.Context(), engine.Request{Object: map[string]any{"apiVersion": "g.io/v1", "kind": "T", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"k": "v"}}})
	if err != nil || !res.Allowed {
		t.Errorf("a map: got %+v, %v", res, err)
	}
	spec := labels.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	s, err := engine.CompileSchema(&spec, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.Validate(t.Context(), nil, map[string]any{"k": "v"}, nil); err != nil || len(res.Errors) > 0 {
		t.Errorf("a map of a schema: got %+v, %v", res, err)
	}
	b := crdBuilder{rand.New(rand.NewPCG(3, 4))}
	for i := range 500 {
		var specs []any
		for range 8 {
			specs = append(specs, b.value(3))
		}
		compareBuilt(t, fmt.Sprint(i), builtCRD(b.schema(3)), specs...)
	}
}
