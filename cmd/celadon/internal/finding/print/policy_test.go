package print

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/policyrequest"
)

func TestShortened(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("object.spec.replicas != 1 && ", 60)
	values := []policyrequest.Value{{Expr: "c (object.spec.list[0])"}, {Expr: "c.image"}}
	for expression, want := range map[string]string{
		"a &&\n  b": "a &&\n  b",
		many + "object.spec.list.all(c, c.image == 'ö') && " + many: "… object.spec.list.all(c, c.image == 'ö') && object …",
		"c.image == 'x' && " + many:                                 "c.image == 'x' && object.spec … ",
	} {
		got := shortened(&policyrequest.Explanation{Expression: expression, Values: values})
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
