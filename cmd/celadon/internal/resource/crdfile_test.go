package resource

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

const described = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: DROPPED
        type: object
        default: {description: kept}
        properties:
          description: {type: string, description: DROPPED}
          list: {type: array, items: {type: string, description: DROPPED}}
          map: {type: object, additionalProperties: {type: string, description: DROPPED}}
`

func TestDecodeMistyped(t *testing.T) {
	t.Parallel()
	const rule = "          list: {type: array, x-kubernetes-validations: "
	for value, want := range map[string]string{
		"[self.size() > 0]": ".x-kubernetes-validations[0]: want object (line 15)",
		"self.size() > 0":   ".x-kubernetes-validations: want array (line 15)",
		"[{rule: [1]}]":     ".x-kubernetes-validations[0].rule: want string (line 15)",
	} {
		text := strings.Replace(described, "          list: {type: array, ", rule+value+", ", 1)
		input.SplitText("crd.yaml", []byte(text), func(c input.Chunk) bool {
			return c.Each(func(doc *input.Document) bool {
				_, err := Decode(doc)
				_, compact := DecodeCompact(doc)
				want := "not a CustomResourceDefinition: spec.versions[0].schema.openAPIV3Schema.properties.list" + want
				if err == nil || compact == nil || err.Error() != want || compact.Error() != want {
					t.Errorf("%s: got %v and %v, want %s", value, err, compact, want)
				}
				return true
			})
		})
	}
}

func TestDecodeTwice(t *testing.T) {
	t.Parallel()
	var doc *input.Document
	input.SplitText("crd.yaml", []byte(described), func(c input.Chunk) bool {
		return c.Each(func(d *input.Document) bool { doc = d; return true })
	})
	before := runtime.DeepCopyJSON(doc.Object)
	for range 2 {
		compact, err := DecodeCompact(doc)
		if err != nil {
			t.Fatal(err)
		}
		complete, err := Decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(doc.Object, before) {
			t.Fatalf("the document is changed: %v", doc.Object)
		}
		schema, bare := complete.Spec.Versions[0].Schema.OpenAPIV3Schema, compact.Spec.Versions[0].Schema.OpenAPIV3Schema
		if text := schema.String(); strings.Count(text, "DROPPED") != 4 {
			t.Errorf("complete: %s", text)
		}
		if text := bare.String(); strings.Contains(text, "DROPPED") || len(bare.Properties) != 3 || !strings.Contains(string(bare.Default.Raw), "kept") {
			t.Errorf("compact: %s", text)
		}
	}
}
