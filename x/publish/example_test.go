package publish_test

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/x/publish"
)

const widgets = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, maximum: 9, default: 3, description: How large it is.}
`

func ExampleFind() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(widgets), crd); err != nil {
		fmt.Println(err)
		return
	}
	at, err := publish.Find([]*apiextensionsv1.CustomResourceDefinition{crd}, "widgets.spec.size", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := at.Explain(publish.Layout{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, details, _ := strings.Cut(text, "BOUNDS:\n")
	fmt.Print(details)
	// Output:
	//     1 to 9
	// DEFAULT:
	//     3
}
