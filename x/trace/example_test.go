package trace_test

import (
	"context"
	"fmt"
	"log"

	"sigs.k8s.io/yaml"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
	"github.com/celadon-cel/celadon/x/trace/record"
)

const portsCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          ports:
            type: array
            maxItems: 9
            items: {type: integer}
            x-kubernetes-validations:
            - rule: self.all(p, p > 0 && p < 65536)
`

func ExampleExplainer() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(portsCRD), crd); err != nil {
		log.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	obj := []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"ports":[80,0]}`)
	res, err := e.Validate(context.Background(), engine.Request{Raw: obj})
	if err != nil {
		log.Fatal(err)
	}
	all, err := trace.NewExplainer(e).Explain(context.Background(), res.Prepared, res.Causes, record.MaxObjectWork)
	if err != nil {
		log.Fatal(err)
	}
	for i, cause := range all.Causes {
		fmt.Println(res.Causes[i].Field, res.Causes[i].Rule.Rule)
		for _, v := range cause.Values {
			fmt.Println(" ", v.Expr, "=", v.Value)
		}
	}
	// Output:
	// ports self.all(p, p > 0 && p < 65536)
	//   p (self[1]) = 0
}
