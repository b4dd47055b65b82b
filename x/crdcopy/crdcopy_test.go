package crdcopy

import (
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

type props = apiextensionsv1.JSONSchemaProps

func definition() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1alpha1"},
		{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &props{Type: "object", Properties: map[string]props{
			"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Type: "string"}}},
			"map":  {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &props{Type: "string"}}},
			"open": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
		}}}},
	}
	return crd
}

func TestWith(t *testing.T) {
	for _, test := range []struct {
		version, at string
		ok          bool
	}{
		{"v1", "", true},
		{"v1", "list", true},
		{"v1", "list[*]", true},
		{"v1", "map[*]", true},
		{"v1", "open[*]", false},
		{"v1", "list.nosuch", false},
		{"v1", "nosuch", false},
		{"v1", "map[*][*]", false},
		{"v1alpha1", "list", false},
		{"v2", "", false},
	} {
		t.Run(test.version+" "+test.at, func(t *testing.T) {
			steps, err := engine.ParsePath(test.at)
			if err != nil {
				t.Fatal(err)
			}
			crd := definition()
			out, ok := With(crd, test.version, steps, func(at *props) { at.Title = "changed" })
			if ok != test.ok {
				t.Fatalf("ok is %v, want %v", ok, test.ok)
			}
			if !reflect.DeepEqual(crd, definition()) {
				t.Error("the original was changed")
			}
			if changed := !reflect.DeepEqual(out, crd); changed != test.ok {
				t.Errorf("the copy differs: %v, want %v", changed, test.ok)
			}
		})
	}
}
