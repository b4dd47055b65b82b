package lsp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAttackExplanations checks that a file whose explanation takes far longer than its verdict does
// not delay the diagnostics of the next file.
func TestAttackExplanations(t *testing.T) {
	t.Parallel()
	many, list := "", strings.Repeat("1, ", 19_990)
	for i := range 20 {
		many += fmt.Sprintf("- {rule: 'self.l.all(x, x != 2 || x == %d) && self.l.size() < %d'}, ", i, i)
	}
	many = strings.ReplaceAll(many, "- {", "{")
	for name, attack := range map[string]struct{ rules, spec string }{
		"a call that the cost limit stops": {"{rule: lists.range(340000).distinct().size() > 0}", "{}"},
		"twenty rules over a long list":    {many, "{l: [" + list + "1]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ts.g.io}
spec:
  group: g.io
  names: {kind: T, plural: ts, singular: t, listKind: TList}
  scope: Namespaced
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
              l: {type: array, maxItems: 20000, items: {type: integer}}
            x-kubernetes-validations: [` + attack.rules + "]\n"
			c := start(t, nil, map[string]string{"crds/crd.yaml": example(t, "crontab/crd.yaml"), "crds/t.yaml": crd})
			hostile := c.open("t.yaml", "apiVersion: g.io/v1\nkind: T\nmetadata: {name: a}\nspec: "+attack.spec+"\n")
			honest := c.until("a.yaml", c.open("a.yaml", strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)), 1)
			wantLines(t, honest, "7:3-11 replicas is 11, more than maxReplicas: 10")
			for began := time.Now(); len(hostile) == 0 && time.Since(began) < hangs; time.Sleep(10 * time.Millisecond) {
				hostile = c.latest("t.yaml")
			}
			if len(hostile) == 0 {
				t.Error("nothing is reported about the hostile file")
			}
		})
	}
}
