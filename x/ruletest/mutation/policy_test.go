package mutation

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

const mutatedPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  matchConditions: [{name: not-root, expression: request.userInfo.username != 'root'}]
  variables: [{name: limit, expression: "5"}]
  validations: [{expression: object.spec.size <= variables.limit}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
`

func TestPolicyMutants(t *testing.T) {
	t.Parallel()
	var docs []map[string]any
	for _, text := range strings.Split(mutatedPolicy, "---\n") {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	set, err := policy.Compile(docs, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	request := func(user string, size int64) policy.Request {
		return policy.Request{
			Operation: policy.OperationCreate, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
			Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "w", User: policy.User{Name: user},
			Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": size}},
		}
	}
	suite := PolicySuite{Set: set}
	for _, tt := range []struct {
		user                         string
		size                         int64
		killed, survived, notCovered int
	}{
		{"", 0, 0, 0, 8},
		{"root", 7, 3, 0, 5},
		{"ann", 5, 6, 2, 0},
		{"ann", 6, 8, 0, 0},
	} {
		if tt.user != "" {
			req := request(tt.user, tt.size)
			want, err := set.Evaluate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			suite.Cases = append(suite.Cases, PolicyCase{
				Name: tt.user, Policies: map[string]bool{"p": tt.user != "root"},
				Passes: func(ctx context.Context, other *policy.Set) (bool, string, error) {
					got, err := other.Evaluate(ctx, req)
					return err == nil && got.Allowed == want.Allowed, "", err
				},
			})
		}
		r, err := Run(t.Context(), nil, []PolicySuite{suite}, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Killed != tt.killed || r.Survived != tt.survived || r.NotCovered != tt.notCovered {
			t.Errorf("%s %d: got %d killed, %d survived, %d not covered of %d; want %d, %d, %d", tt.user, tt.size, r.Killed, r.Survived, r.NotCovered, r.Total, tt.killed, tt.survived, tt.notCovered)
			for _, m := range r.Mutants {
				t.Logf("%s: %s", m.Status, m)
			}
		}
	}
}
