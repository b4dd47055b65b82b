package service_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		data, err := os.ReadFile("../../../../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	policies := read("policies/policies/limits.yaml")
	for _, tt := range []struct{ name, policies, want, absent string }{
		{"none", "", `"verdict":"valid"`, `"policies":[`},
		{"denied", policies, `"message":"at most 3 replicas are allowed here"`, `"verdict":"valid"`},
		{"values", policies, `"expr":"variables.limit"`, ""},
		{"unbound", strings.Split(policies, "\n---\n")[0], "the policy has no effect because it has no binding", `"verdict":"invalid"`},
		{"no policy", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "no admission policy", `"verdict":"invalid"`},
		{"broken", "kind: [", "policies.yaml:1", `"verdict":"invalid"`},
		{"invalid", strings.Replace(policies, "object.spec.replicas <=", "object.spec.replicas <", 1) + "\n", `"problems":[]`, ""},
		{"mutating", `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [stable.example.com], apiVersions: [v1], operations: [CREATE], resources: [crontabs]}]}
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{replicas: 1}}"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: m}
spec: {policyName: m}
`, `"changed":true`, ""},
	} {
		request := map[string]any{"do": "check", "crd": read("crontab/crd.yaml"), "object": read("policies/objects/eager.yaml"), "policies": tt.policies}
		text, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		got := string(service.New().Answer(t.Context(), text))
		if !strings.Contains(got, tt.want) || tt.absent != "" && strings.Contains(got, tt.absent) {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
}
