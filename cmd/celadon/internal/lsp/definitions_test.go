package lsp

import (
	"strings"
	"testing"
)

const compositeDefinition = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xdatabases.example.org}
spec:
  group: example.org
  names: {kind: XDatabase, plural: xdatabases}
  claimNames: {kind: Database, plural: databases}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
            x-kubernetes-validations:
            - rule: self.size < 10
`

const apiResourceSchema = `apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: today.widgets.example.io}
spec:
  group: example.io
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      type: object
      properties:
        size:
          type: integer
          x-kubernetes-validations:
          - rule: self < "10"
`

func TestDefinitions(t *testing.T) {
	t.Parallel()
	c := start(t, nil, map[string]string{"xrd.yaml": compositeDefinition})
	const claim = "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec: {size: 20}\n"
	wantLines(t, c.until("claim.yaml", c.open("claim.yaml", claim), 1), "4:1-5 failed rule: self.size < 10")
	got := messages(c.until("xrd.yaml", c.open("xrd.yaml", strings.Replace(compositeDefinition, "self.size", "self.sise", 1)), 1))
	if len(got) != 1 || !strings.HasPrefix(got[0], "21:26-30 ") || !strings.Contains(got[0], "unknown field sise") {
		t.Errorf("xrd.yaml: %q", got)
	}
	got = messages(c.until("kcp.yaml", c.open("kcp.yaml", apiResourceSchema), 1))
	if len(got) != 1 || !strings.HasPrefix(got[0], "18:") || !strings.Contains(got[0], "'_<_' applied to '(int, string)'") {
		t.Errorf("kcp.yaml: %q", got)
	}
}
