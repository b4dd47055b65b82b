package docs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const schemaOfEverything = `
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  versions:
  - name: v0
    served: false
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            description: The spec.
            x-kubernetes-validations: [{rule: self.a == 1, message: a is one}, {rule: "true"}]
            properties:
              a: {type: integer, minimum: 1, maximum: 10, exclusiveMaximum: true, nullable: true}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              name: {type: string, pattern: "^(?P<x>[a-z]+)$", maxLength: 5}
              go: {type: string, pattern: "(?i)^[[:alpha:]]+\\z"}
              mode: {type: string, enum: [x, y], default: x}
              list: {type: array, items: {type: object, properties: {b: {type: boolean}}}}
              map: {type: object, additionalProperties: {type: integer}}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {c: {type: string}}}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
            anyOf: [{required: [a]}, {required: [name]}]
`

func TestJSONSchema(t *testing.T) {
	t.Parallel()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(schemaOfEverything), &crd); err != nil {
		t.Fatal(err)
	}
	files, err := schemaFiles([]*apiextensionsv1.CustomResourceDefinition{&crd})
	if err != nil || len(files) != 1 || files[0].name != "thing-example.com-v1.json" {
		t.Fatalf("%v: %v", err, files)
	}
	text, err := json.Marshal(combine(files, false))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	for object, valid := range map[string]bool{
		"spec: {a: 9}":                            true,
		"spec: {a: 10}":                           false,
		"spec: {a: null}":                         true,
		"spec: {}":                                false,
		"{}":                                      false,
		"spec: {name: abc, port: 80}":             true,
		"spec: {name: abc, port: http}":           true,
		"spec: {name: abc, port: true}":           false,
		"spec: {name: ABC}":                       false,
		"spec: {a: 1, go: '1'}":                   true,
		"spec: {a: 1, mode: z}":                   false,
		"spec: {a: 1, unknown: 1}":                false,
		"spec: {a: 1, list: [{b: true}]}":         true,
		"spec: {a: 1, list: [{d: true}]}":         false,
		"spec: {a: 1, map: {x: y}}":               false,
		"spec: {a: 1, any: {x: y}}":               true,
		"spec: {a: 1, any: {c: 1}}":               false,
		"spec: {a: 1, pod: {kind: Pod}}":          true,
		"spec: {a: 1}\nextra: 1":                  false,
		"spec: {a: 1}\nmetadata: {labels: {}}":    true,
		"spec: {a: 1}\nmetadata: {labels: 1}":     false,
		"other: 1\nkind: Other":                   true,
		"spec: {a: 1}\nmetadata: {finalizers: 1}": true,
	} {
		if !strings.Contains(object, "kind: Other") {
			object = "apiVersion: example.com/v1\nkind: Thing\n" + strings.TrimPrefix(object, "{}")
		}
		data, err := yaml.YAMLToJSON([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		if result, err := schema.Validate(gojsonschema.NewBytesLoader(data)); err != nil || result.Valid() != valid {
			t.Errorf("%s: %v, %v, want %t", data, err, result.Errors(), valid)
		}
	}
	for _, want := range []string{`The spec.\n\nRules:\n- a is one (self.a == 1)\n- true`, `Rules:\n- pattern: (?i)^[[:alpha:]]+\\z`, `"default":"x"`, `^(?\u003cx\u003e[a-z]+)$`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
