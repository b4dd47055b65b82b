package vet

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// If the API server reports an error in a node, it does not check some nearby rules. The rules use optionalOldSelf
// without oldSelf, an error that the server reports for every rule that it checks.
func TestErrorsBesideRules(t *testing.T) {
	t.Parallel()
	const rule = "x-kubernetes-validations: [{rule: 'true', optionalOldSelf: true}]"
	cases := map[string]string{
		"properties and values": `
type: object
properties: {a: {type: string}}
additionalProperties: {type: string, ` + rule + `}`,
		"item of a set": `
type: array
x-kubernetes-list-type: set
items: {type: object, ` + rule + `, properties: {a: {type: string, ` + rule + `}}}`,
		"list of a set": `
type: array
x-kubernetes-list-type: set
` + rule + `
items: {type: array, items: {type: string}, ` + rule + `}`,
		"key of a list map": `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [a]
items: {type: object, ` + rule + `, properties: {a: {type: object, ` + rule + `}, b: {type: string, ` + rule + `}}}`,
		"key without default": `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [a]
items: {type: object, properties: {a: {type: string, nullable: true, ` + rule + `}}}`,
		"items of a text": `
type: string
items: {type: object, properties: {a: {type: string, ` + rule + `}}}`,
		"below items that CEL cannot see": `
x-kubernetes-int-or-string: true
` + rule + `
items: {type: object, properties: {a: {type: string, ` + rule + `}}}`,
		"below values that CEL cannot see": `
x-kubernetes-int-or-string: true
` + rule + `
additionalProperties: {type: array, items: {type: string, ` + rule + `}}`,
		"unknown type of a sibling": `
type: object
properties: {a: {type: nope}, b: {type: string, ` + rule + `}}`,
		"error below": `
type: object
` + rule + `
properties: {a: {type: string, ` + rule + `, x-kubernetes-map-type: atomic}, b: {type: string, ` + rule + `}}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s apiextensionsv1.JSONSchemaProps
			if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			crd := unitCRD(s)
			want := upstream(t, crd, nil)
			if len(want) == 0 {
				t.Error("the server accepts it")
			}
			if d := compare(ours(t, crd, nil), want); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]schemaProps{
		"items that CEL cannot see": {
			XIntOrString: true, XValidations: []aRule{{Rule: "true"}},
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{
				Type: "object", Properties: map[string]schemaProps{"a": {Type: "string", XValidations: []aRule{{Rule: "self == ''"}}}},
			}},
		},
		"bytes as keys":             {Type: "object", XValidations: []aRule{{Rule: `{b'a': 1}.size() == 1`}}},
		"bytes among keys":          {Type: "object", XValidations: []aRule{{Rule: `{'a': 1, b'a': 1}.size() == 1`}}},
		"bytes made of a constant":  {Type: "object", XValidations: []aRule{{Rule: `{bytes('a'): [1]}.size() == 1`}}},
		"bytes in a map in a macro": {Type: "object", XValidations: []aRule{{Rule: `[1].all(x, {b'a': {'b': 1}}.size() == x)`}}},
		"bytes of an optional":      {Type: "object", XValidations: []aRule{{Rule: `{?b'a': optional.of(1)}.size() == 1`}}},
		"bytes in a message":        {Type: "object", XValidations: []aRule{{Rule: "true", MessageExpression: `string({b'a': 1}.size())`}}},
		"bytes of a place":          {Type: "object", Properties: map[string]schemaProps{"a": {Type: "string"}}, XValidations: []aRule{{Rule: `{bytes(self.a): 1}.size() == 1`}}},
		"bytes over a place":        {Type: "object", Properties: map[string]schemaProps{"a": {Type: "string"}}, XValidations: []aRule{{Rule: `{b'a': self.a}.size() == 1`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crd := unitCRD(s)
			want := upstream(t, crd, nil)
			if d := compare(ours(t, crd, nil), want); d != "" {
				t.Error(d)
			}
			r := report(t, crd)
			if panics := len(want) == 1 && want[0].Type == field.ErrorTypeInternal; panics != (r.Status != nil && r.Status.Code == 500) {
				t.Errorf("got %+v; the server panics: %t", r.Status, panics)
			}
		})
	}
}
