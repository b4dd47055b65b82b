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

// TestDecodeTwice checks that decoding a document as a complete CRD and as a Compact, in either
// order, changes neither the document nor the other result.
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
