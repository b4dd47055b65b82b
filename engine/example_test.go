package engine_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

const cronTabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
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
              maxReplicas: {type: integer, default: 5}
            x-kubernetes-validations:
            - rule: self.replicas <= self.maxReplicas
              messageExpression: "'replicas must not exceed ' + string(self.maxReplicas)"
              fieldPath: .replicas
`

func cronTabCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(cronTabs), crd); err != nil {
		panic(err)
	}
	return crd
}

func ExampleCompile() {
	crd := cronTabCRD()
	rules := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].XValidations
	rules[0].Rule = "self.replicas <= self.maxReplica"

	e, err := engine.Compile(crd, engine.Config{KubeVersion: "1.33"})
	fmt.Println(e != nil, e.GroupKind(), e.Versions())
	if bad, ok := err.(*engine.CompileErrors); ok {
		for _, rule := range bad.Errors {
			fmt.Printf("%s, rule %d, line %d, column %d: %s\n%s\n", rule.Path, rule.Index, rule.Line, rule.Column, rule.Summary(), rule.Snippet)
		}
	}
	// Output:
	// true CronTab.stable.example.com [v1]
	// spec, rule 0, line 1, column 22: undefined field 'maxReplica'
	// self.replicas <= self.maxReplica
	//                      ^
}

func ExampleEngine_Validate() {
	e, err := engine.Compile(cronTabCRD(), engine.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obj, err := engine.Decode([]byte(`{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "nightly"}, "spec": {"replicas": 9}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := e.Validate(context.Background(), engine.Request{Object: obj})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Allowed, res.Failure.Code)
	for _, cause := range res.Causes {
		fmt.Printf("%s: %s (%s)\n", cause.Field, cause.Message, cause.Reason)
		fmt.Println("by the rule", cause.Rule.Rule)
	}
	// Output:
	// false 422
	// spec.replicas: Invalid value: replicas must not exceed 5 (FieldValueInvalid)
	// by the rule self.replicas <= self.maxReplicas
}

func ExampleCompileRules() {
	s := &schema.Structural{
		Generic: schema.Generic{Type: "string"},
		ValidationExtensions: schema.ValidationExtensions{XValidations: apiextensionsv1.ValidationRules{
			{Rule: "self == oldSelf", Message: "is immutable"},
			{Rule: "self.startsWith('a')"},
		}},
	}
	rules, err := engine.CompileRules(s, engine.Config{Subtree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	errs, remaining := rules.Validate(context.Background(), field.NewPath("spec", "name"), "box", "bag", 100)
	for _, err := range errs {
		fmt.Println(err)
	}
	fmt.Println("units left:", remaining)
	// Output:
	// spec.name: Invalid value: "box": is immutable
	// spec.name: Invalid value: "box": failed rule: self.startsWith('a')
	// units left: 95
}

func ExampleNode_Compile() {
	e, err := engine.Compile(cronTabCRD(), engine.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, err := e.At("v1", "spec")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := spec.Compile("self.maxReplicas - self.replicas")
	if err != nil {
		fmt.Println(err)
		return
	}
	out := x.Eval(context.Background(), map[string]any{"replicas": int64(2), "maxReplicas": int64(5)}, nil)
	fmt.Println(x.Type(), out.Value, out.Cost, x.Estimate().Max)
	_, err = spec.Compile("self.minReplicas")
	fmt.Println(err)
	// Output:
	// int 3 5 5
	// v1: spec: x-kubernetes-validations[0].rule: ERROR: <input>:1:5: undefined field 'minReplicas'
	//  | self.minReplicas
	//  | ....^
}
