package catalog_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

const crontabs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  names: {kind: CronTab, plural: crontabs, singular: crontab, listKind: CronTabList}
  scope: Namespaced
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
            properties:
              replicas: {type: integer}
            x-kubernetes-validations:
            - rule: self.replicas < 10
              message: too many
`

// A folder of CRDs, which may be embedded with go:embed, can be used to validate objects.
func ExampleReadFS() {
	folder := fstest.MapFS{
		"crds/crontab.yaml":       {Data: []byte(crontabs)},
		"crds/kustomization.yaml": {Data: []byte("resources: [crontab.yaml]")},
	}
	crds, err := catalog.ReadFS(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := catalog.New(catalog.Config{})
	if err := c.Apply(crds, nil); err != nil {
		fmt.Println(err)
		return
	}
	e := c.Engine(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "CronTab"})
	object, err := engine.Decode([]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a","namespace":"b"},"spec":{"replicas":12}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := e.Validate(context.Background(), engine.Request{Object: object})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cause := range result.Causes {
		fmt.Println(cause.Field+":", cause.Message)
	}
	// Output: spec: Invalid value: too many
}
