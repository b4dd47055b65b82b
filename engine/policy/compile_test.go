package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	valid := simplePolicy("true", "")
	for _, tt := range []struct {
		documents []string
		want      string // prefix of the error
		dropped   bool
	}{
		{[]string{simplePolicy("object.spec.flag", "")}, "ValidatingAdmissionPolicy p: spec.validations[0].expression: must evaluate to bool but got dyn", false},
		{[]string{simplePolicy("variables.b", "  variables: [{name: a, expression: variables.b}, {name: b, expression: 'true'}]")}, "ValidatingAdmissionPolicy p: spec.variables[0].expression: compilation failed: ERROR: <input>:1:10: undefined field 'b'", false},
		{[]string{simplePolicy("params.a == 1", "")}, "ValidatingAdmissionPolicy p: spec.validations[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'", false},
		{[]string{simplePolicy("request == 1", "")}, "ValidatingAdmissionPolicy p: spec.validations[0].expression: compilation failed: ERROR: <input>:1:9: found no matching overload for '_==_' applied to '(kubernetes.AdmissionRequest, int)'", false},
		{[]string{simplePolicy("true", "  validation: []")}, `ValidatingAdmissionPolicy p: spec.validation: unknown field "spec.validation": remove it or correct its name; did you mean validations?`, true},
		{[]string{simplePolicy("true", "  failurePolicy: Never")}, `ValidatingAdmissionPolicy p: spec.failurePolicy: got "Never", want Fail or Ignore`, true},
		{[]string{simplePolicy("true", "  variables: 1")}, "ValidatingAdmissionPolicy p: cannot unmarshal number", true},
		{[]string{simplePolicy("true", "  matchConditions: [{name: '?', expression: 'true'}]")}, `ValidatingAdmissionPolicy p: spec.matchConditions[0].name: got "?", want a qualified name`, true},
		{[]string{strings.Replace(valid, "matchConstraints: {", "matchConstraints: {objectSelector: {matchExpressions: [{key: a, operator: Is}]}, ", 1)}, "ValidatingAdmissionPolicy p: spec.matchConstraints.objectSelector: invalid selector", true},
		{[]string{`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}}`}, "ValidatingAdmissionPolicy p: spec.matchConstraints: the field is missing", true},
		{[]string{strings.Replace(valid, "name: p", "name: P", 1)}, `ValidatingAdmissionPolicy P: metadata.name: got "P", want lowercase`, true},
		{[]string{valid, valid}, "ValidatingAdmissionPolicy p: metadata.name: several policies have this name", true},
		{[]string{testBinding}, `ValidatingAdmissionPolicyBinding b: spec.policyName: no policy "p" is among the documents`, true},
		{[]string{valid, strings.Replace(testBinding, "[Deny, Audit]", "[Deny, Warn]", 1)}, "ValidatingAdmissionPolicyBinding b: spec.validationActions: Deny and Warn cannot be used together", true},
		{[]string{valid, strings.Replace(testBinding, "policyName", "paramRef: {}, policyName", 1)}, "ValidatingAdmissionPolicyBinding b: spec.paramRef: set name or selector", true},
		{[]string{`{kind: ConfigMap}`}, "ConfigMap (document 1): apiVersion and kind must be set", true},
		{[]string{`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: m}}`}, "MutatingAdmissionPolicy m: spec.matchConstraints: the field is missing", true},
		{[]string{strings.Replace(mutatingPolicy("m", apply("Object{}")), "mutations:", "mutations: []\n  x:", 1)}, `MutatingAdmissionPolicy m: spec.x: unknown field "spec.x"`, true},
		{[]string{strings.Replace(mutatingPolicy("m", apply("Object{}")), "reinvocationPolicy: Never", "", 1)}, "MutatingAdmissionPolicy m: spec.reinvocationPolicy: the field is missing: set Never or IfNeeded", true},
		{[]string{strings.Replace(mutatingPolicy("m", apply("Object{}")), `["*"]`, "[CREATE, DELETE]", 1)}, "MutatingAdmissionPolicy m: spec.matchConstraints.resourceRules[0].operations: a mutating policy cannot match DELETE", true},
		{[]string{mutatingPolicy("m", "{patchType: JSONPatch, applyConfiguration: {expression: 'Object{}'}}")}, "MutatingAdmissionPolicy m: spec.mutations[0].jsonPatch: the field is missing, but patchType is JSONPatch", true},
		{[]string{mutatingPolicy("m", "{patchType: Merge}")}, `MutatingAdmissionPolicy m: spec.mutations[0].patchType: got "Merge", want ApplyConfiguration or JSONPatch`, true},
		{[]string{mutatingPolicy("m", apply("[1]"))}, "MutatingAdmissionPolicy m: spec.mutations[0].applyConfiguration.expression: must evaluate to Object but got list(int)", false},
		{[]string{mutatingPolicy("m", jsonPatch("[Object{}]"))}, "MutatingAdmissionPolicy m: spec.mutations[0].jsonPatch.expression: must evaluate to list(JSONPatch) but got list(Object)", false},
		{[]string{mutatingPolicy("m", jsonPatch("[JSONPatch{op: 1}]"))}, "MutatingAdmissionPolicy m: spec.mutations[0].jsonPatch.expression: compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'", false},
		{[]string{mutatingPolicy("m", apply("Object{}")+"\n  variables: [{name: a, expression: 'Object{}'}]")}, "MutatingAdmissionPolicy m: spec.variables[0].expression: compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object'", false},
		{[]string{mutatingBinding("m")}, `MutatingAdmissionPolicyBinding m: spec.policyName: no policy "m" is among the documents`, true},
		{[]string{mutatingPolicy("m", apply("Object{}")), strings.Replace(testBinding, "policyName: p", "policyName: m", 1)}, `ValidatingAdmissionPolicyBinding b: spec.policyName: no policy "m" is among the documents`, true},
	} {
		_, err := Compile(documents(t, tt.documents...), Config{})
		var all *CompileErrors
		if !errors.As(err, &all) {
			t.Errorf("%s: got %v", tt.want, err)
			continue
		}
		if first := all.Errors[0]; !strings.HasPrefix(first.Error(), tt.want) || first.Dropped != tt.dropped {
			t.Errorf("got %v (dropped: %v), want %s", first, first.Dropped, tt.want)
		}
	}
	if _, err := Compile(nil, Config{KubeVersion: "0.9"}); err == nil {
		t.Error("an unsupported version is accepted")
	}
}

func TestServerAccepts(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, simplePolicy("variables.a", "  variables: [{name: a, expression: 'false'}, {name: a, expression: 'true'}]"), testBinding)
	if res := evaluate(t, set, widgetRequest(t, OperationCreate, `{}`)); !res.Allowed {
		t.Errorf("the last of several variables with a name counts: got %v", res.Failure)
	}
	conditions := simplePolicy("true", "  variables: [{name: a, expression: 'true'}]\n  matchConditions: [{name: c, expression: variables.a}]")
	if _, err := Compile(documents(t, conditions), Config{}); err != nil {
		t.Error(err)
	}
	if _, err := Compile(documents(t, conditions), Config{New: true}); err == nil || !strings.Contains(err.Error(), "undeclared reference to 'variables'") {
		t.Errorf("new matchConditions with variables: got %v", err)
	}
	if _, err := Compile(documents(t, simplePolicy("dyn(variables).a", "")), Config{New: true}); err == nil {
		t.Error("a new policy without variables names them")
	}
}

func TestKubeVersions(t *testing.T) {
	t.Parallel()
	for version, valid := range map[string]bool{"1.32": false, "1.33": true, "1.37": true} {
		_, err := Compile(documents(t, simplePolicy("isSemver('1.0.0')", "")), Config{KubeVersion: version})
		if (err == nil) != valid {
			t.Errorf("%s: got %v", version, err)
		}
	}
	if _, err := Compile(documents(t, simplePolicy("isSemver('1.0.0')", "")), Config{KubeVersion: "1.33", New: true}); err == nil {
		t.Error("a new policy can use a library of its own minor")
	}
}

func TestManyPolicies(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 1000 {
		rename := strings.NewReplacer("name: p", fmt.Sprintf("name: p%d", i), "name: b", fmt.Sprintf("name: b%d", i), "policyName: p", fmt.Sprintf("policyName: p%d", i))
		texts = append(texts, rename.Replace(simplePolicy("object.spec.size < 5", "")), rename.Replace(testBinding))
	}
	set := mustCompile(t, Config{}, texts...)
	if n := len(set.Policies()); n != 1000 || len(set.Policies()[0].Bindings) != 1 {
		t.Fatalf("got %d policies, %+v", n, set.Policies()[0])
	}
	if res := evaluate(t, set, widgetRequest(t, OperationCreate, `{spec: {size: 5}}`)); len(res.Evaluations) != 1000 {
		t.Errorf("got %d evaluations", len(res.Evaluations))
	}
}
