package policy_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

func ExampleCompile() {
	var documents []map[string]any
	for _, text := range []string{`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: widget-size}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
  validations:
  - expression: object.spec.size <= 5 || request.userInfo.username == 'admin'
    messageExpression: "'size ' + string(object.spec.size) + ' is more than 5'"
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: widget-size, validationActions: [Deny]}
`} {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			panic(err)
		}
		document, err := engine.Decode(data)
		if err != nil {
			panic(err)
		}
		documents = append(documents, document)
	}
	set, err := policy.Compile(documents, policy.Config{})
	if err != nil {
		panic(err)
	}
	res, err := set.Evaluate(context.Background(), policy.Request{
		Operation: policy.OperationCreate,
		Resource:  schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind:      schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
		Name:      "w",
		Namespace: "default",
		User:      policy.User{Name: "ann"},
		Object:    map[string]any{"spec": map[string]any{"size": int64(7)}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Allowed, res.Failure.Code)
	fmt.Println(res.Failure.Message)
	// Output:
	// false 422
	// widgets.example.com "w" is forbidden: ValidatingAdmissionPolicy 'widget-size' with binding 'everywhere' denied request: size 7 is more than 5
}
