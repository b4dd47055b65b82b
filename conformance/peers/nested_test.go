package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance"
)

func nested() *subject {
	text := func() apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	item := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": text(), "port": {Type: "integer"}, "next": text(),
	}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"items": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}},
	}}
	for _, rule := range []string{
		"self.items.all(a, self.items.exists_one(b, a.name == b.name))",
		"self.items.all(a, self.items.exists(b, b.name == a.next))",
		"self.items.all(a, self.items.all(b, a.name == b.name || a.port != b.port))",
	} {
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: rule})
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "chains.bench.example.com"
	crd.Spec.Group, crd.Spec.Scope = "bench.example.com", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Chain", Plural: "chains"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
		}},
	}}
	return &subject{
		name:  "nested all/exists over 120 items",
		crd:   &conformance.CRD{Definition: crd},
		cases: []*conformance.Case{{ID: "nested", Version: "v1", Object: chain(120)}},
	}
}

func chain(n int) map[string]any {
	items := make([]any, n)
	for i := range items {
		items[i] = map[string]any{
			"name": fmt.Sprintf("item-%d", i),
			"port": int64(1000 + i),
			"next": fmt.Sprintf("item-%d", (i+1)%n),
		}
	}
	return map[string]any{
		"apiVersion": "bench.example.com/v1", "kind": "Chain",
		"metadata": map[string]any{"name": "chain"},
		"spec":     map[string]any{"items": items},
	}
}
