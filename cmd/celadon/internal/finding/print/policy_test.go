package print

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func TestShortened(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("object.spec.replicas != 1 && ", 60)
	for expression, want := range map[string]string{
		"a &&\n  b": "a &&\n  b",
		many + "object.spec.list.all(c, c.image == 'ö') && " + many: "… object.spec.list.all(c, c.image == 'ö') && object …",
		"c.image == 'x' && " + many:                                 "c.image == 'x' && object.spec … ",
	} {
		got := shortened(&policyrequest.Explanation{Expression: expression, Offset: max(0, strings.Index(expression, "c.image"))})
		if len(got) > maxExpression {
			t.Errorf("got %d bytes", len(got))
		}
		for _, part := range strings.Split(want, " … ") {
			if !strings.Contains(got, strings.Trim(part, "… ")) {
				t.Errorf("%s: got %q", expression[:9], got)
			}
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("object.spec.replicas != 1 && ", 60) + "c.image == 'x'"
	o := &finding.Object{Policies: []finding.PolicyDecision{{Explanation: policyrequest.Explanation{Expression: long + "\n", Offset: len(long) - 14}}}}
	got := cut(o, "failed expression: "+long)
	if len(got) > maxExpression || !strings.HasPrefix(got, "failed expression: … ") || !strings.HasSuffix(got, " && c.image == 'x'") {
		t.Errorf("got %s", got)
	}
	if got := cut(o, "another message"); got != "another message" {
		t.Errorf("got %s", got)
	}
}
