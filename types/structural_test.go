package types_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/types"
)

// structural parses a schema in YAML.
func structural(t testing.TB, text string) *schema.Structural {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	s, err := structuralOf(props)
	if err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	return s
}

func structuralOf(props *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return nil, err
	}
	return schema.NewStructural(internal)
}

// value parses a YAML value and decodes it as the API server does.
func value(t testing.TB, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("value: %v\n%s", err, text)
	}
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &v); err != nil {
		t.Fatalf("value: %v\n%s", err, text)
	}
	return v
}

// upstreamType returns the API server's declaration, with the type name that Celadon uses.
func upstreamType(s *schema.Structural, root bool) *apiservercel.DeclType {
	t := model.SchemaDeclType(s, root)
	if t == nil {
		return nil
	}
	return t.MaybeAssignTypeName("selfType")
}

// diffTypes returns the differences between two declarations.
func diffTypes(path string, got, want *apiservercel.DeclType) []string {
	if got == nil || want == nil {
		if got != want {
			return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
		}
		return nil
	}
	var diffs []string
	differ := func(what string, got, want any) {
		if got != want {
			diffs = append(diffs, fmt.Sprintf("%s: %s: got %v, want %v", path, what, got, want))
		}
	}
	differ("type name", got.TypeName(), want.TypeName())
	differ("CEL type", got.CelType().String(), want.CelType().String())
	differ("MaxElements", got.MaxElements, want.MaxElements)
	differ("MinSerializedSize", got.MinSerializedSize, want.MinSerializedSize)
	differ("is an object", got.IsObject(), want.IsObject())
	differ("fields", fmt.Sprint(fieldNames(got)), fmt.Sprint(fieldNames(want)))
	for name, f := range want.Fields {
		if g := got.Fields[name]; g != nil {
			differ("name of "+name, g.Name, f.Name)
			differ("required "+name, g.Required, f.Required)
			diffs = append(diffs, diffTypes(path+"."+name, g.Type, f.Type)...)
		}
	}
	diffs = append(diffs, diffTypes(path+"{key}", got.KeyType, want.KeyType)...)
	return append(diffs, diffTypes(path+"[*]", got.ElemType, want.ElemType)...)
}

func fieldNames(t *apiservercel.DeclType) []string { return slices.Sorted(maps.Keys(t.Fields)) }

func placeOf(root bool) types.Place {
	if root {
		return types.ResourceRoot
	}
	return types.Subtree
}

// readStructural returns nil if text is not a valid schema.
func readStructural(text string) *schema.Structural {
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		return nil
	}
	s, err := structuralOf(props)
	if err != nil {
		return nil
	}
	return s
}
