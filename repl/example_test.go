package repl_test

import (
	"context"
	"fmt"
	"log"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/repl"
)

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer}
`

func document(text string) repl.Document {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	return repl.Document{File: "thing.yaml", Line: 1, Text: []byte(text), JSON: data}
}

func ExampleSession() {
	s, err := repl.NewSession(repl.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.LoadCRD(document(crd)); err != nil {
		log.Fatal(err)
	}
	if err := s.LoadObject(document("{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}, spec: {size: 3}}")); err != nil {
		log.Fatal(err)
	}
	for _, line := range []string{"self.spec.size > 3", ":cd spec", ":add self.size > 2", ":diff"} {
		fmt.Printf("%s%s\n%s", s.Prompt(), line, s.Do(context.Background(), line).Text)
	}
	// Output:
	// Thing/v1> self.spec.size > 3
	// false
	//   self.spec.size  3
	//   : boolean; cost 4; estimate 4, <0.1% of the limit
	// Thing/v1> :cd spec
	// Thing/v1 spec> :add self.size > 2
	//    verdict  cost  estimate  limit  rule
	// 0  ok       3     3         <0.1%  self.size > 2
	// Thing/v1 spec> :diff
	// --- thing.yaml
	// +++ thing.yaml (unsaved)
	// @@ -19,3 +19,5 @@
	//              required: [size]
	//              properties:
	//                size: {type: integer}
	// +            x-kubernetes-validations:
	// +            - rule: self.size > 2
}
