package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conditions, object, want string }{
		{
			"object.spec.size > 1", `{spec: {size: 3}}`,
			"variables[0] 6, matchConditions[0] true, validations[0] false, validations[1] error no such key: lost, validations[0].message m6, auditAnnotations[0] 3",
		},
		{"object.spec.size > 3", `{spec: {size: 3}}`, "matchConditions[0] false"},
	} {
		policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  matchConditions: [{name: c, expression: %q}]
  variables: [{name: twice, expression: object.spec.size * 2}]
  validations:
  - {expression: variables.twice < 5, messageExpression: "'m' + string(variables.twice)"}
  - {expression: object.spec.lost == variables.twice}
  auditAnnotations: [{key: k, valueExpression: string(object.spec.size)}]
`, tt.conditions)
		set := mustCompile(t, Config{}, policy, testBinding)
		req := widgetRequest(t, OperationCreate, tt.object)
		res, err := set.Evaluate(context.Background(), req)
		if err != nil || len(res.Evaluations) != 1 {
			t.Fatalf("got %+v, %v, want one evaluation", res, err)
		}
		values, err := set.Values(context.Background(), req, &res.Evaluations[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range values {
			path := strings.NewReplacer("spec.", "", ".valueExpression", "", ".messageExpression", ".message", ".expression", "").Replace(v.Path)
			text := fmt.Sprint(v.Value)
			if v.Problem != "" {
				text = "error " + v.Problem
			}
			got = append(got, path+" "+text)
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.conditions, got, tt.want)
		}
	}
}

func TestDecisionValues(t *testing.T) {
	t.Parallel()
	config := Config{Authorize: func(Access) Authorization { return Authorization{Known: true} }}
	const check = "authorizer.path('/x').check('get')"
	variables := fmt.Sprintf("  variables: [{name: a, expression: %q}, {name: b, expression: variables.a}]", check)
	set := mustCompile(t, config, simplePolicy("variables.b.allowed()", variables), testBinding)
	req := widgetRequest(t, OperationCreate, "{}")
	const denied = "denied, because no role lets ann get /x"
	for source, want := range map[string]string{
		check:             denied,
		"variables.b":     denied,
		"[" + check + "]": "[kubernetes.authorization.Decision]",
		"[" + check + ", authorizer.path('/y').check('get')][0]": "kubernetes.authorization.Decision",
	} {
		out, err := set.Eval(context.Background(), req, "p", source)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(out.Value); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
	res := evaluate(t, set, req)
	values, err := set.Explain(context.Background(), req, &res.Evaluations[0], 0)
	if err != nil || len(values) != 1 || values[0].Expression != check || values[0].Problem != denied {
		t.Errorf("got %+v, %v", values, err)
	}
}

// Each variable is read many times, directly and through others.
func TestExplainChain(t *testing.T) {
	t.Parallel()
	variables := "variables:\n  - {name: a0, expression: \"authorizer.path('/x').check('get')\"}\n"
	for i := range 8 {
		reads := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("variables.a%d, ", i), 20), ", ")
		variables += fmt.Sprintf("  - {name: a%d, expression: \"[%s].size() > 0 ? authorizer.path('/x').check('get') : authorizer.path('/y').check('get')\"}\n", i+1, reads)
	}
	config := Config{Authorize: func(Access) Authorization { return Authorization{Known: true, Allowed: true} }}
	set := mustCompile(t, config, simplePolicy("!variables.a8.allowed()", "  "+variables), testBinding)
	req := widgetRequest(t, OperationCreate, "{}")
	res, err := set.Evaluate(context.Background(), req)
	if err != nil || len(res.Evaluations) != 1 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if values, err := set.Explain(context.Background(), req, &res.Evaluations[0], 0); err != nil || len(values) == 0 {
		t.Errorf("got %v, %v", values, err)
	}
}
