package apply_test

import (
	"context"
	"fmt"
	"log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

const volumes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: volumes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Volume, plural: volumes}
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
            x-kubernetes-validations: [{rule: "!has(oldSelf.id) || has(self.id)", message: id cannot be removed}]
            properties: {class: {type: string}, id: {type: string}}
`

const stored = `{"apiVersion": "example.com/v1", "kind": "Volume",
	"metadata": {"name": "v", "namespace": "default", "resourceVersion": "1", "managedFields": [
		{"manager": "controller", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:id": {}}}}]},
	"spec": {"class": "a", "id": "x"}}`

const manifest = `{"apiVersion": "example.com/v1", "kind": "Volume", "metadata": {"name": "v"}, "spec": {"class": "a"}}`

const taken = `{"apiVersion": "example.com/v1", "kind": "Volume", "metadata": {"name": "v"}, "spec": {"id": "y"}}`

// A replacement removes the field that a controller has set. An apply keeps it, and does not change it without a
// conflict.
func Example() {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(volumes), &crd); err != nil {
		log.Fatal(err)
	}
	e, err := engine.Compile(&crd, engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	w := apply.NewWriter(&crd, e)
	old, err := engine.Decode([]byte(stored))
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{manifest, taken} {
		for _, kind := range []apply.Kind{apply.Replace, apply.Server} {
			req := engine.Request{Raw: []byte(text), OldObject: old}
			res, err := w.Validate(context.Background(), req, apply.Write{Kind: kind, Manager: apply.Kubectl})
			if err != nil {
				log.Fatal(err)
			}
			if !res.Allowed {
				fmt.Println(kind, res.Failure.Code, res.Causes[0].Field, res.Causes[0].Message)
				continue
			}
			fmt.Println(kind, res.Object["spec"])
		}
	}
	// Output:
	// replace 422 spec Invalid value: id cannot be removed
	// server map[class:a id:x]
	// replace map[id:y]
	// server 409 .spec.id conflict with "controller" using example.com/v1
}
