package policy

import (
	"fmt"
	"strings"
	"testing"
)

func withParams(policy string, bindings, params int) []string {
	texts := []string{policy}
	for i := range bindings {
		texts = append(texts, fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b%d}, spec: {policyName: p, validationActions: [Deny], paramRef: {selector: {}, parameterNotFoundAction: Deny}}}`, i))
	}
	for i := range params {
		texts = append(texts, fmt.Sprintf(`{apiVersion: example.com/v1, kind: Limit, metadata: {name: p%d, namespace: ns}, max: 1}`, i))
	}
	return texts
}

const limitParams = "  paramKind: {apiVersion: example.com/v1, kind: Limit}"

func TestManyDecisions(t *testing.T) {
	t.Parallel()
	large := "params.metadata.name + '" + strings.Repeat("x", 2000) + "'"
	for _, tt := range []struct{ name, policy, want string }{
		{"evaluations", simplePolicy("params.max > 0", limitParams), "over 20000 decisions"},
		{"decisions", strings.Replace(simplePolicy("params.max < 0", limitParams), "validations: [", "validations: ["+strings.Repeat("{expression: params.max < 0}, ", 300), 1), "over 20000 decisions"},
		{"messages", strings.Replace(simplePolicy("params.max < 0", limitParams), `max < 0"`, `max < 0", messageExpression: "`+large+`"`, 1), "over 8 MiB"},
	} {
		res := evaluate(t, mustCompile(t, Config{}, withParams(tt.policy, 160, 160)...), widgetRequest(t, OperationCreate, "{}"))
		if n := len(res.Undecided); n != 1 || !strings.Contains(res.Undecided[0].Reason, tt.want) {
			t.Errorf("%s: got %v after %d evaluations", tt.name, res.Undecided, len(res.Evaluations))
		}
		if denies := tt.name != "evaluations"; res.Allowed == denies {
			t.Errorf("%s: got Allowed %v: a denial before the limit stands", tt.name, res.Allowed)
		}
	}
	res := evaluate(t, mustCompile(t, Config{}, withParams(simplePolicy("params.max > 0", limitParams), 60, 60)...), widgetRequest(t, OperationCreate, "{}"))
	if len(res.Undecided) != 0 || len(res.Evaluations) != 3600 || res.Work < 3600*evaluationWork {
		t.Errorf("3,600 evaluations: got %v, %d, and %d units of work", res.Undecided, len(res.Evaluations), res.Work)
	}
}

func TestVariableChain(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]string{40: "", maxVariableDepth: "", maxVariableDepth + 1: "chain of 256 others"} {
		variables := []string{"{name: v0, expression: object.spec.size}"}
		for i := 1; i < length; i++ {
			variables = append(variables, fmt.Sprintf("{name: v%d, expression: variables.v%d + 1}", i, i-1))
		}
		set := mustCompile(t, Config{}, simplePolicy(fmt.Sprintf("variables.v%d == %d", length-1, length), "  variables: ["+strings.Join(variables, ", ")+"]"), testBinding)
		res := evaluate(t, set, widgetRequest(t, OperationCreate, "{spec: {size: 1}}"))
		switch {
		case want == "" && (len(res.Undecided) > 0 || !res.Allowed):
			t.Errorf("%d variables: got %v, %.300v", length, res.Undecided, res.Failure)
		case want != "" && (len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, want)):
			t.Errorf("%d variables: got %v", length, res.Undecided)
		}
	}
}
