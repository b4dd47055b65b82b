package lsp

import (
	"strings"
	"testing"
)

const policyFile = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [stable.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [crontabs]}]
  validations:
  - expression: object.spec.replicas < 5
`

// TestPolicies checks the findings of policies: errors, types by the CRD of the workspace, and lints, but
// none about bindings, which may be in another file.
func TestPolicies(t *testing.T) {
	t.Parallel()
	c := start(t, nil, map[string]string{"crds/crd.yaml": example(t, "crontab/crd.yaml")})
	wantLines(t, c.open("good.yaml", policyFile))
	for name, tt := range map[string]struct{ from, to, want string }{
		"broken.yaml": {"replicas < 5", "replicas <", "8:5-15 compilation failed: ERROR: <input>:1:23: Syntax error"},
		"type.yaml":   {"replicas < 5", "replicaz < 5", "undefined field 'replicaz'"},
		"null.yaml":   {"[CREATE, UPDATE]", "[DELETE]", "null"},
		"field.yaml":  {"validations:", "validation:", "validation"},
	} {
		got := c.until(name, c.open(name, strings.Replace(policyFile, tt.from, tt.to, 1)), 1)
		if text := strings.Join(messages(got), "\n"); !strings.Contains(text, tt.want) {
			t.Errorf("%s: got %s, want %s", name, text, tt.want)
		}
	}
}
