// Package schemas reads schemas and values for tests.
package schemas

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Lists is a schema with lists of many kinds.
const Lists = `
type: object
properties:
  at: {type: array, items: {type: string}}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  setn: {type: array, x-kubernetes-list-type: set, items: {type: number}}
  sety: {type: array, x-kubernetes-list-type: set, items: {type: string, format: byte}}
  setnull: {type: array, x-kubernetes-list-type: set, items: {type: string, nullable: true}}
  setio: {type: array, x-kubernetes-list-type: set, items: {x-kubernetes-int-or-string: true}}
  seto: {type: array, x-kubernetes-list-type: set, items: {type: object, properties: {a: {type: string}}}}
  setl: {type: array, x-kubernetes-list-type: set, items: {type: array, items: {type: string}}}
  lo: {type: array, items: {type: object, properties: {k: {type: string}, v: {type: integer}}}}
  ll: {type: array, items: {type: array, items: {type: integer}}}
  ln: {type: array, items: {type: integer, nullable: true}}
  li: {type: array, items: {type: integer}}
  lf: {type: array, items: {type: number}}
  le: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}
  lby: {type: array, items: {type: string, format: byte}}
`

// Objects is a schema with fields of many kinds.
const Objects = `
type: object
x-kubernetes-preserve-unknown-fields: true
properties:
  s: {type: string}
  nl: {type: string, nullable: true}
  a-b: {type: integer}
  a__b: {type: integer}
  namespace: {type: string}
  "9z": {type: string}
  nested: {type: object, properties: {x: {type: integer}, l: {type: array, items: {type: number}}}}
  m: {type: object, additionalProperties: {type: integer}}
  mn: {type: object, additionalProperties: {type: integer, nullable: true}}
  mm: {type: object, additionalProperties: {type: object, additionalProperties: {type: string}}}
  io: {x-kubernetes-int-or-string: true}
  u: {x-kubernetes-preserve-unknown-fields: true}
  e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  by: {type: string, format: byte}
  du: {type: string, format: duration}
  da: {type: string, format: date}
  dt: {type: string, format: date-time}
  nu: {type: number}
`

// Structural parses a schema in YAML.
func Structural(t testing.TB, text string) *schema.Structural {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	s, err := Convert(props)
	if err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	return s
}

// Convert converts a schema to its structural form.
func Convert(props *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return nil, err
	}
	return schema.NewStructural(internal)
}

// Value parses a YAML value and decodes it as the API server does.
func Value(t testing.TB, text string) any {
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

// Parse parses a schema in YAML. It returns nil if text is not a valid schema.
func Parse(text string) *schema.Structural {
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		return nil
	}
	s, err := Convert(props)
	if err != nil {
		return nil
	}
	return s
}
