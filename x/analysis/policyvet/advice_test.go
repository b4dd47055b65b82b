package policyvet_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func TestAdvice(t *testing.T) {
	t.Parallel()
	const rest = "paramKind: {apiVersion: v1, kind: ConfigMap}\nvariables: [{name: most, expression: \"3\"}]\n"
	for _, tt := range []struct{ expression, at, hint, fixed string }{
		{"object.spec.replica < 3", "replica ", "did you mean replicas?", "object.spec.replicas < 3"},
		{"object.spec.replicas <\n  most", "most", "did you mean variables.most?", "object.spec.replicas <\n  variables.most"},
		{"object.spec.replicas < variables.mots", "mots", "did you mean most?", "object.spec.replicas < variables.most"},
		{"self.spec.replicas < self.spec.size", "self", "self is a variable of rules in CRDs; in policies it is object", "object.spec.replicas < object.spec.size"},
		{"self.spec.replicas < 3", "self", "self is a variable of rules in CRDs; in policies it is object", "object.spec.replicas < 3"},
		{"oldobject == null || old_object.spec.replicas < 3", "oldobject", "did you mean oldObject?", ""},
		{"objekt.spec.replicas < 3", "objekt", "did you mean object?", "object.spec.replicas < 3"},
		{"object.metadata.name != subject", "subject", "a string needs quotes: 'subject'", "object.metadata.name != 'subject'"},
		{"param.spec.max > 3", "param", "did you mean params?", ""},
		{"oldSelf == null || oldSelf.spec.replicas < 3", "oldSelf", "oldSelf is a variable of rules in CRDs; in policies it is oldObject", "oldObject == null || oldObject.spec.replicas < 3"},
		{"resource.resource == 'widgets'", "resource", "did you mean request.resource?", "request.resource.resource == 'widgets'"},
		{"request.name == 'ö' || request.userinfo.username == ''", "userinfo", "did you mean userInfo?", "request.name == 'ö' || request.userInfo.username == ''"},
		{"params.dta.x == 'y'", "dta", "did you mean data?", "params.data.x == 'y'"},
		{"object.spec.replicas = 3", "= 3", "use == to compare; = is not a CEL operator", "object.spec.replicas == 3"},
		{"object.spec.paused", "object", "policies do not know the types of fields: compare the value, for example with == true", "object.spec.paused == true"},
		{"object.spec.size > 1 ? object.spec.paused : object.spec.paused", "object", "policies do not know the types of fields: compare the value, for example with == true",
			"(object.spec.size > 1 ? object.spec.paused : object.spec.paused) == true"},
		{"object.spec.size", "object", "policies do not know the types of fields: compare the value, for example with == true", ""},
		{"['x'].all(self, self == object.spec.nam)", ".nam)", "", ""},
	} {
		reports := vet(t, policyOf("CREATE example.com widgets", rest+"validations:\n- expression: |-\n    "+strings.ReplaceAll(tt.expression, "\n", "\n    ")))
		got, expression := policyvet.Advice{}, ""
		for _, e := range reports[0].Errors {
			got, expression = e.Advice, e.Expression
		}
		for _, w := range reports[0].Warnings {
			got, expression = w.Advice, w.Expression
		}
		if at := string([]rune(expression)[got.Offset:]); !strings.HasPrefix(at, tt.at) || got.Hint != tt.hint || got.Fixed != tt.fixed {
			t.Errorf("%s: got %+v at %q", tt.expression, got, at)
		}
	}
}

func TestTextAdvice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rest, fixed string }{
		{"validations: [{expression: 'true', messageExpression: object.metadata.name}]", "string(object.metadata.name)"},
		{"auditAnnotations: [{key: a, valueExpression: \"object.spec.size > 1 ? 'x' : null\"}]", "object.spec.size > 1 ? 'x' : ''"},
		{"auditAnnotations: [{key: a, valueExpression: object.metadata.name}]", ""},
	} {
		errs := vet(t, policyOf("CREATE example.com widgets", tt.rest))[0].Errors
		if len(errs) != 1 || errs[0].Fixed != tt.fixed || errs[0].Hint == "" {
			t.Errorf("%s: got %+v", tt.rest, errs)
		}
	}
}
