package lsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

func TestLintActions(t *testing.T) {
	t.Parallel()
	const rule = "self.replicas <= self.maxReplicas"
	e := start(t, nil, nil)
	text := strings.Replace(example(t, "crontab/crd.yaml"), rule, "self.schedule < '10Gi'", 1)
	reported := e.open("crd.yaml", text)
	i := slices.IndexFunc(reported, func(d protocol.Diagnostic) bool { return d.Code == "text-order" })
	if i < 0 {
		t.Fatal(messages(reported))
	}
	actions := e.actionsAt("crd.yaml", reported[i].Range)
	if len(actions) != 1 || actions[0].IsPreferred || actions[0].Kind != quickFix {
		t.Fatalf("%+v", actions)
	}
	after := applied(t, text, e.uri("crd.yaml"), actions[0])
	const want = "- rule: isQuantity(self.schedule) && quantity(self.schedule).isLessThan(quantity('10Gi'))\n"
	if !strings.Contains(after, want) || otherLines(text, after) > 1 {
		t.Errorf("not %q in\n%s", want, after)
	}
	for _, d := range e.change("crd.yaml", protocol.Change{Text: after}) {
		if d.Code == "text-order" {
			t.Errorf("still reported: %s", d.Message)
		}
	}
}

func TestKeyActions(t *testing.T) {
	t.Parallel()
	for key, written := range map[string]string{"items:\n                  tpye: string": "items:\n                  type: string", "maxReplicas: {tpye: integer": "maxReplicas: {type: integer"} {
		text := `apiVersion: apiextensions.k8s.io/v1
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
          spec:
            type: object
            properties:
              maxReplicas: {type: integer}
              names:
                type: array
                maxItems: 3
                items:
                  type: string
            x-kubernetes-validations:
            - rule: self.b == 'b'
`
		text = strings.Replace(text, written, key, 1)
		e := start(t, nil, nil)
		reported := e.open("crd.yaml", text)
		has := func(part string) int {
			return slices.IndexFunc(reported, func(d protocol.Diagnostic) bool { return strings.HasPrefix(d.Message, part) })
		}
		i := has("unknown key tpye, did you mean type?")
		if i < 0 {
			i = has("unknown field tpye, did you mean type?")
		}
		if i < 0 || has("undefined field 'b' (once the errors above are fixed)")+has("unknown field b (once the errors above are fixed)") < 0 {
			t.Fatal(messages(reported))
		}
		actions := e.actionsAt("crd.yaml", reported[i].Range)
		if len(actions) != 1 || actions[0].Title != "write type" {
			t.Fatalf("%+v", actions)
		}
		if after := applied(t, text, e.uri("crd.yaml"), actions[0]); !strings.Contains(after, written) || otherLines(text, after) > 1 {
			t.Error(after)
		}
	}
}
