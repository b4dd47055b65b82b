package assist_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

func ExampleNewContext() {
	data, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		log.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		log.Fatal(err)
	}
	e, err := engine.Compile(&crd, engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := assist.NewContext(e, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "v1", "spec")
	if err != nil {
		log.Fatal(err)
	}
	p.Part = assist.Rule

	for _, c := range p.CompleteAt("self.rep", 8).Candidates {
		fmt.Println(c.Text, c.Hint)
	}
	fmt.Println(strings.Join(p.Hover("self.env.all(e, e.name != '')", 18).Lines(), "\n"))
	const wrong = "self.replicas = 3 and self.suspended"
	for _, problem := range p.Problems(wrong) {
		fmt.Println(problem.Words)
		fmt.Println(assist.Apply(wrong, problem.Fixes[0].Edits))
	}
	// Output:
	// replicas integer
	// e.name: string
	// maxLength 64
	// estimate 0 to 64
	// the rule: estimate 3 to 163, <0.1% of the limit
	// use == to compare; = is not a CEL operator
	// self.replicas == 3 && self.suspended
}
