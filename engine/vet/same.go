package vet

import (
	"bytes"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/conversion"
)

// sameSchemas reports whether all versions have equal schemas, so that the conversion moves the
// schema to the top.
func sameSchemas(crd *apiextensionsv1.CustomResourceDefinition) bool {
	versions := crd.Spec.Versions
	if len(versions) == 0 || versions[0].Schema == nil {
		return false
	}
	var equal conversion.Equalities
	for i := 1; i < len(versions); i++ {
		if !mayBeSame(schemaOf(&versions[i]), schemaOf(&versions[0])) {
			return false
		}
		if i == 1 {
			equal = apiequality.Semantic.Copy()
			if err := equal.AddFunc(sameJSON); err != nil {
				panic(err)
			}
		}
		if !equal.DeepEqual(versions[i].Schema, versions[0].Schema) {
			return false
		}
	}
	return true
}

func schemaOf(v *apiextensionsv1.CustomResourceDefinitionVersion) props {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return props{}
	}
	return *v.Schema.OpenAPIV3Schema
}

// mayBeSame reports whether a quick comparison finds no difference between the schemas. The
// arguments are values, because pointers to map elements would allocate.
func mayBeSame(a, b props) bool {
	if a.Type != b.Type || a.Description != b.Description || len(a.Properties) != len(b.Properties) {
		return false
	}
	for name, x := range a.Properties {
		if y, ok := b.Properties[name]; !ok || !mayBeSame(x, y) {
			return false
		}
	}
	if a.Items == nil || b.Items == nil || a.Items.Schema == nil || b.Items.Schema == nil {
		return true
	}
	return mayBeSame(*a.Items.Schema, *b.Items.Schema)
}

// sameJSON reports whether a and b encode the same value.
func sameJSON(a, b apiextensionsv1.JSON) bool {
	if bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	var x, y apiextensions.JSON
	if apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(&a, &x, nil) != nil || apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(&b, &y, nil) != nil {
		return false
	}
	return apiequality.Semantic.DeepEqual(x, y)
}
