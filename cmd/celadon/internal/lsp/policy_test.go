package lsp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
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

func TestPolicies(t *testing.T) {
	t.Parallel()
	c := start(t, nil, map[string]string{"crds/crd.yaml": example(t, "crontab/crd.yaml")})
	wantLines(t, c.open("good.yaml", policyFile))
	for name, tt := range map[string]struct{ from, to, want string }{
		"broken.yaml": {"replicas < 5", "replicas <", "8:5-15 Syntax error: mismatched input"},
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

func TestPolicyExpressions(t *testing.T) {
	t.Parallel()
	c := start(t, nil, map[string]string{"crds/crd.yaml": example(t, "crontab/crd.yaml")})
	webhook := `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
webhooks:
- name: a.example.com
  rules: [{apiGroups: [stable.example.com], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]
  matchConditions:
  - {name: c, expression: "EXPRESSION"}
`
	mutating := strings.NewReplacer("Validating", "Mutating", "validations:\n  - expression: object.spec.replicas < 5", "mutations:\n  - patchType: JSONPatch\n    jsonPatch:\n      expression: EXPRESSION").Replace(policyFile)
	policy := strings.Replace(policyFile, "object.spec.replicas < 5", "EXPRESSION", 1) + "  variables:\n  - {name: limit, expression: '5'}\n"
	other := strings.Replace(policy, "stable.example.com", "example.com", 1)
	for i, tt := range []struct {
		text, expression string // | is the cursor
		want, absent     string
	}{
		{policy, "object.spec.re|", "replicas", "schedule"},
		{policy, "object.spec.|", "replicas", "self"},
		{policy, "oldObject == null ? true : oldObject.spec.|", "schedule", ""},
		{policy, "variables.|", "limit", "replicas"},
		{policy, "request.|", "userInfo", ""},
		{policy, "request.userInfo.|", "username", "operation"},
		{policy, "object.metadata.|", "labels", ""},
		{policy, "object.spec.replicas < variables.l|", "limit", ""},
		{policy, "o|", "oldObject", "oldSelf"},
		{policy, "object.spec.schedule.st|", "startsWith(", ""},
		{other, "object.spec.|", "", "replicas"}, // its CRD is not known
		{other, "object.metadata.|", "labels", ""},
		{webhook, "object.spec.|", "replicas", ""},
		{webhook, "request.operation == 'CREATE' && object.spec.r|", "replicas", ""},
		{mutating, "object.spec.|", "replicas", ""},
	} {
		name := fmt.Sprintf("%d.yaml", i)
		at := strings.Index(tt.expression, "|")
		text := strings.Replace(tt.text, "EXPRESSION", strings.Replace(tt.expression, "|", "", 1), 1)
		c.open(name, text)
		offset := strings.Index(tt.text, "EXPRESSION") + at
		line := strings.Count(text[:offset], "\n")
		var list protocol.CompletionList
		c.ask("textDocument/completion", c.at(name, line, offset-strings.LastIndex(text[:offset], "\n")-1), &list)
		var labels []string
		for _, item := range list.Items {
			labels = append(labels, item.Label)
		}
		if tt.want != "" && !slices.Contains(labels, tt.want) || tt.absent != "" && slices.Contains(labels, tt.absent) {
			t.Errorf("%s: got %v, want %s", tt.expression, labels, tt.want)
		}
	}
	hover := func(word string) string {
		offset := strings.Index(policyFile, word) + 1
		line := strings.Count(policyFile[:offset], "\n")
		var h protocol.Hover
		c.ask("textDocument/hover", c.at("hover.yaml", line, offset-strings.LastIndex(policyFile[:offset], "\n")-1), &h)
		return h.Contents.Value
	}
	c.open("hover.yaml", policyFile)
	if got := hover("replicas < 5"); !strings.HasPrefix(got, "spec.replicas: integer") {
		t.Errorf("hover: %q", got)
	}
	if got := hover("object.spec"); !strings.Contains(got, "null on DELETE") {
		t.Errorf("hover: %q", got)
	}
}
