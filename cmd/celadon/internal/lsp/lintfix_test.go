package lsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

// TestLintActions checks that the replacement of a lint is offered, and that it is not preferred because
// it may decide objects differently.
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
