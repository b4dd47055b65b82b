package policy_test

import (
	"context"
	"encoding/json"
	"fmt"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

func ExampleSet_Mutate() {
	var documents []map[string]any
	for _, text := range []string{`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: sidecar-port}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
  reinvocationPolicy: IfNeeded
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'metrics', port: 9090}]}}"
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: sidecar-port}
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
	text, number := structural.Structural{Generic: structural.Generic{Type: "string"}}, structural.Structural{Generic: structural.Generic{Type: "integer"}}
	port := structural.Structural{Generic: structural.Generic{Type: "object"}, Properties: map[string]structural.Structural{"name": text, "port": number}}
	byKey := "map"
	ports := structural.Structural{Generic: structural.Generic{Type: "array"}, Items: &port, Extensions: structural.Extensions{XListType: &byKey, XListMapKeys: []string{"name"}}}
	spec := structural.Structural{Generic: structural.Generic{Type: "object"}, Properties: map[string]structural.Structural{"ports": ports}}
	widget := &structural.Structural{Generic: structural.Generic{Type: "object"}, Properties: map[string]structural.Structural{"spec": spec}}
	res, err := set.Mutate(context.Background(), policy.Request{
		Operation: policy.OperationCreate,
		Resource:  schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind:      schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
		Name:      "w",
		Namespace: "default",
		Schema:    policy.NewMergeSchema(widget),
		Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
			"spec": map[string]any{"ports": []any{map[string]any{"name": "http", "port": int64(80)}}},
		},
	})
	if err != nil {
		panic(err)
	}
	data, err := json.Marshal(res.Object["spec"])
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Allowed, res.Changed)
	fmt.Println(string(data))
	// Output:
	// true true
	// {"ports":[{"name":"http","port":80},{"name":"metrics","port":9090}]}
}
