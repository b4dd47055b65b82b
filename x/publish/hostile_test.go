package publish

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func crdOf(schema apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "as.example.com"
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "A", Plural: "as", Singular: "a", ListKind: "AList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
		}},
	}
	return crd
}

func nested(depth, fields int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for range depth {
		above := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"n": s}}
		for i := range fields {
			above.Properties[fmt.Sprint("f", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
		s = above
	}
	return s
}

func lists(depth int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for range depth {
		s = apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: s.DeepCopy()}}
	}
	return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"l": s}}
}

func TestHostileCRDs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	many := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range 10_000 {
		many.Properties[fmt.Sprint("field", i)] = apiextensionsv1.JSONSchemaProps{Type: "string", Description: "A field."}
	}
	wordy := apiextensionsv1.JSONSchemaProps{Type: "object", Description: strings.Repeat("word ", 1<<20), Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"one": {Type: "string", Description: strings.Repeat("x", 4<<20)}, "two": {Type: "string", Description: strings.Repeat("\n", 1<<20)},
	}}
	for _, test := range []struct {
		name    string
		schema  apiextensionsv1.JSONSchemaProps
		tooLong bool
	}{
		{"10,000 fields", many, false},
		{"megabytes of words", wordy, false},
		{"deep", nested(150, 0), false},
		{"deeper", nested(1000, 0), false},
		{"deep and wide", nested(1500, 10), true},
		{"lists of lists", lists(1000), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := crdOf(test.schema)
			for _, line := range []string{"as", "as --recursive", "as --recursive --max-depth=2"} {
				text, err := explained(t, crd, line, false)
				var long *TooLongError
				if err != nil && (!errors.As(err, &long) || !test.tooLong) || len(text) > MaxText {
					t.Errorf("explain %s: %d bytes, %v", line, len(text), err)
				}
			}
			p, err := NewPage(t.Context(), crd, Config{Steps: 1})
			if err == nil {
				_, err = p.HTML()
			}
			if long := new(TooLongError); errors.As(err, &long) != test.tooLong || err != nil && !test.tooLong {
				t.Errorf("page: %v", err)
			}
		})
	}
}
