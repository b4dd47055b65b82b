package policy

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
)

func documents(t testing.TB, texts ...string) (docs []map[string]any) {
	t.Helper()
	for _, text := range texts {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

const testPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE, DELETE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets, widgets/scale]}]
  variables: [{name: size, expression: object.spec.size}, {name: big, expression: variables.size > 5}]
  matchConditions: [{name: not-root, expression: request.userInfo.username != 'root'}]
  validations:
  - {expression: "!variables.big", messageExpression: "'size is ' + string(variables.size)", reason: Forbidden}
  - {expression: "request.namespace == namespaceObject.metadata.name"}
  auditAnnotations: [{key: size, valueExpression: "string(variables.size)"}]
`

const testBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny, Audit]}
`

const testNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {a: b}}}`

func widgetRequest(t testing.TB, op Operation, object string) Request {
	req := Request{
		Operation: op, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "w", Namespace: "ns", User: User{Name: "ann"},
	}
	doc := documents(t, object)[0]
	if op == OperationDelete {
		req.OldObject = doc
	} else {
		req.Object = doc
	}
	return req
}

func mustCompile(t testing.TB, cfg Config, texts ...string) *Set {
	t.Helper()
	set, err := Compile(documents(t, texts...), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func evaluate(t testing.TB, set *Set, req Request) *Result {
	t.Helper()
	res, err := set.Evaluate(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, testPolicy, testBinding, testNamespace)
	for _, tt := range []struct {
		object  string
		code    int32
		message string
		audit   string
	}{
		{`{metadata: {name: w}, spec: {size: 3}}`, 0, "", "3"},
		{`{metadata: {name: w}, spec: {size: 7}}`, 403, `widgets.example.com "w" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: size is 7`, "7"},
		{`{metadata: {name: w}}`, 422, `widgets.example.com "w" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: expression '!variables.big' resulted in error: composited variable "big" fails to evaluate: composited variable "size" fails to evaluate: no such key: spec`, ""},
	} {
		res := evaluate(t, set, widgetRequest(t, OperationCreate, tt.object))
		if res.Allowed != (tt.code == 0) || res.Failure != nil && (res.Failure.Code != tt.code || res.Failure.Message != tt.message) || res.AuditAnnotations["p/size"] != tt.audit {
			t.Errorf("%s: got %+v, %v", tt.object, res, res.Failure)
		}
	}
	req := widgetRequest(t, OperationCreate, `{metadata: {name: w}, spec: {size: 7}}`)
	req.User.Name = "root"
	if res := evaluate(t, set, req); !res.Allowed || !res.Evaluations[0].Excluded || res.Evaluations[0].Condition != "not-root" || res.Evaluations[0].MatchCost == 0 {
		t.Errorf("a matchCondition that is false: got %+v", res)
	}
	if res := evaluate(t, set, widgetRequest(t, OperationDelete, `{metadata: {name: w}}`)); res.Allowed || !res.Evaluations[0].Decisions[0].Failed {
		t.Errorf("object is null on DELETE: got %+v", res)
	}
}

func TestEvaluateConcurrently(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, testPolicy, testBinding, testNamespace)
	var group sync.WaitGroup
	for i := range 8 {
		req := widgetRequest(t, OperationCreate, fmt.Sprintf(`{metadata: {name: w}, spec: {size: %d}}`, i))
		group.Go(func() {
			for range 100 {
				res, err := set.Evaluate(context.Background(), req)
				if err != nil || res.Allowed != (i <= 5) || res.AuditAnnotations["p/size"] != fmt.Sprint(i) {
					t.Errorf("%d: got %+v, %v", i, res, err)
				}
			}
		})
	}
	group.Wait()
}

func simplePolicy(expression, fields string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{operations: ["*"], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  validations: [{expression: %q}]
%s`, expression, fields)
}

func TestBudget(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{Limits: cost.Limits{PerObject: 5}}, simplePolicy("object.spec.size + object.spec.size + object.spec.size == 0", ""), testBinding)
	res := evaluate(t, set, widgetRequest(t, OperationCreate, `{spec: {size: 0}}`))
	if res.Allowed || !strings.HasSuffix(res.Failure.Message, outOfBudget) {
		t.Errorf("got %+v", res)
	}
	set = mustCompile(t, Config{Limits: cost.Limits{PerCall: 5}}, simplePolicy("object.spec.size + object.spec.size + object.spec.size == 0", ""), testBinding)
	res = evaluate(t, set, widgetRequest(t, OperationCreate, `{spec: {size: 0}}`))
	if res.Allowed || !strings.HasSuffix(res.Failure.Message, "actual cost limit exceeded") {
		t.Errorf("got %+v", res)
	}
}

func TestUndecided(t *testing.T) {
	t.Parallel()
	object := `{spec: {size: 0}}`
	for _, tt := range []struct {
		name, policy, binding string
		want                  string // part of the reason
	}{
		{"namespace", simplePolicy("namespaceObject.metadata.labels.a == 'b'", ""), testBinding, "needs the Namespace ns"},
		{"selector", strings.Replace(simplePolicy("true", ""), "matchConstraints: {", "matchConstraints: {namespaceSelector: {matchLabels: {a: b}}, ", 1), testBinding, "namespaceSelector needs"},
		{"two selectors", strings.Replace(simplePolicy("true", ""), "matchConstraints: {", "matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ns, a: b}}, ", 1), testBinding, "namespaceSelector needs the Namespace ns,"},
		{"authorizer", simplePolicy("authorizer.requestResource.check('get').allowed()", ""), testBinding, `whether "ann" may get widgets.example.com`},
		{"cycle", simplePolicy("dyn(variables).a == 1", "  variables: [{name: a, expression: dyn(variables).b}, {name: b, expression: variables.a}]"), testBinding, "needs its own value"},
		{"params", simplePolicy("params.a == 1", "  paramKind: {apiVersion: v1, kind: ConfigMap}"), strings.Replace(testBinding, "policyName", "paramRef: {name: x, parameterNotFoundAction: Allow}, policyName", 1), "no params object of v1 ConfigMap"},
	} {
		set := mustCompile(t, Config{}, tt.policy, tt.binding)
		res := evaluate(t, set, widgetRequest(t, OperationCreate, object))
		if len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].String(), tt.want) || !res.Allowed || len(res.Evaluations) != 0 {
			t.Errorf("%s: got %+v", tt.name, res)
		}
	}
}

// TestUnknownParts checks that a known result is the same with any Namespace and any access.
func TestUnknownParts(t *testing.T) {
	t.Parallel()
	const (
		label = "namespaceObject.metadata.labels.a == 'b'"
		check = "authorizer.group('').resource('pods').check('use').allowed()"
	)
	condition := func(expressions ...string) string {
		var list []string
		for i, x := range expressions {
			list = append(list, fmt.Sprintf("{name: c%d, expression: %q}", i, x))
		}
		return "  matchConditions: [" + strings.Join(list, ", ") + "]\n"
	}
	validations := func(list ...string) string {
		return strings.Replace(simplePolicy("?", ""), `[{expression: "?"}]`, "["+strings.Join(list, ", ")+"]", 1)
	}
	const no, yes = `{expression: "false", message: nope}`, `{expression: "true"}`
	quoted := func(expression, message string) string {
		if message != "" {
			message = fmt.Sprintf(", messageExpression: %q", message)
		}
		return fmt.Sprintf("{expression: %q%s}", expression, message)
	}
	for _, tt := range []struct {
		policy string
		want   string // allowed, denied, or unknown
	}{
		{simplePolicy("false", condition(check, "request.name != 'w'")), "allowed"},
		{simplePolicy("false", condition("request.name != 'w'", check)), "allowed"},
		{simplePolicy("false", condition("!"+check, "request.name == 'w'")), "unknown"},
		{simplePolicy("false", condition(check+" || true")), "unknown"}, // the checks are not errors
		{simplePolicy("false", condition("true || "+check)), "denied"},
		{simplePolicy("false", condition(check+" && "+check, check, check, "false")), "unknown"}, // may exceed the budget
		{simplePolicy(label+" || true", ""), "allowed"},
		{simplePolicy("true || "+label, ""), "allowed"},
		{simplePolicy(label+" && false", ""), "denied"},
		{simplePolicy("has(namespaceObject.metadata.labels)", ""), "unknown"},
		{simplePolicy("namespaceObject.?metadata.?labels.a.orValue('') != 'b'", ""), "unknown"},
		{simplePolicy("optional.ofNonZeroValue(namespaceObject).hasValue()", ""), "unknown"},
		{simplePolicy("namespaceObject != null", ""), "unknown"},
		{simplePolicy("[namespaceObject].all(n, n.metadata.?labels.a.orValue('') != 'b')", ""), "unknown"},
		{simplePolicy("[1, 2].exists(i, i == 2 || "+label+")", ""), "allowed"},
		{simplePolicy("variables.v || true", "  variables: [{name: v, expression: \""+label+"\"}]\n"), "allowed"},
		{simplePolicy("variables.v", "  variables: [{name: v, expression: \""+label+"\"}]\n"), "unknown"},
		{simplePolicy("namespaceObject.metadata.name == 'ns'", ""), "allowed"},
		{simplePolicy("has(namespaceObject.metadata.name) && namespaceObject.metadata.name == 'x'", ""), "denied"},
		{simplePolicy("namespaceObject.metadata.name == 'ns' && has(namespaceObject.metadata.labels)", ""), "unknown"},
		{validations(no, quoted(label, "")), "denied"},
		{validations(quoted(label, ""), no), "denied"},
		{validations(no, quoted(check, "")), "denied"},
		{validations(yes, quoted(check, "")), "unknown"},
		{validations(quoted("false", "namespaceObject.metadata.name")), "denied"},
		{validations(quoted("false", "'x' + "+strings.TrimSuffix(label, " == 'b'"))), "unknown"},
		{validations(quoted("true", "'x' + "+strings.TrimSuffix(label, " == 'b'"))), "allowed"},
		{validations(yes) + "  auditAnnotations: [{key: k, valueExpression: \"string(" + label + ")\"}]\n", "unknown"},
		{validations(no) + "  auditAnnotations: [{key: k, valueExpression: \"string(" + label + ")\"}]\n", "denied"},
	} {
		req := widgetRequest(t, OperationCreate, `{metadata: {name: w}}`)
		req.Name = "w"
		res := evaluate(t, mustCompile(t, Config{}, tt.policy, testBinding), req)
		got := "allowed"
		switch {
		case !res.Allowed:
			got = "denied"
		case len(res.Undecided) > 0:
			got = "unknown"
		}
		if got != tt.want {
			t.Errorf("got %s, want %s: %v\n%s", got, tt.want, res.Undecided, tt.policy)
		}
		for _, labels := range []string{"{}", "{a: b}", "{a: c}"} {
			for _, allowed := range []bool{false, true} {
				cfg := Config{Authorize: func(Access) Authorization { return Authorization{Known: true, Allowed: allowed} }}
				known := evaluate(t, mustCompile(t, cfg, tt.policy, testBinding, "{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: "+labels+"}}"), req)
				if known.Allowed != (got == "allowed") && got != "unknown" || len(known.Undecided) > 0 {
					t.Errorf("got %s, but with labels %s and access %v allowed: %v\n%s", got, labels, allowed, known.Allowed, tt.policy)
				}
			}
		}
	}
}

func TestNamespaceName(t *testing.T) {
	t.Parallel()
	for selector, matches := range map[string]bool{
		"{matchLabels: {kubernetes.io/metadata.name: ns}}":                                                true,
		"{matchLabels: {kubernetes.io/metadata.name: other, a: b}}":                                       false,
		"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [a, b]}]}":       true,
		"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [a, ns]}]}":      false,
		"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: DoesNotExist}]}":                false,
		"{matchExpressions: [{key: a, operator: Exists}], matchLabels: {kubernetes.io/metadata.name: x}}": false,
	} {
		policy := strings.Replace(simplePolicy("false", ""), "matchConstraints: {", "matchConstraints: {namespaceSelector: "+selector+", ", 1)
		// A server replaces another value of the label.
		for _, more := range [][]string{nil, {"{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {kubernetes.io/metadata.name: other}}}"}} {
			res := evaluate(t, mustCompile(t, Config{}, append(more, policy, testBinding)...), widgetRequest(t, OperationCreate, `{metadata: {name: w}}`))
			if res.Allowed == matches || len(res.Undecided) > 0 {
				t.Errorf("%s, %v: got %+v", selector, more, res)
			}
		}
	}
}

// TestRejectedBinding checks that a policy whose only binding is invalid differs from a policy without a binding.
func TestRejectedBinding(t *testing.T) {
	t.Parallel()
	for binding, rejected := range map[string]bool{testBinding: false, strings.Replace(testBinding, "[Deny, Audit]", "[]", 1): true, testNamespace: false} {
		set, err := Compile(documents(t, simplePolicy("true", ""), binding), Config{})
		if info := set.Policies()[0]; info.Rejected != rejected || (err != nil) != rejected {
			t.Errorf("%s: got %+v, %v", binding, info, err)
		}
	}
}

// TestWorkLimit evaluates expressions whose cost does not measure their work.
func TestWorkLimit(t *testing.T) {
	t.Parallel()
	var variables, uses []string
	for i := range 20 {
		variables = append(variables, fmt.Sprintf(`{name: v%d, expression: "object.text.matches('((a{1,30}){1,30}|b)*%d')"}`, i, i))
		uses = append(uses, fmt.Sprintf("variables.v%d", i))
	}
	set := mustCompile(t, Config{}, simplePolicy(strings.Join(uses, " || "), "  variables: ["+strings.Join(variables, ", ")+"]"), testBinding)
	r := newRun(set.policies[0].program)
	const limit = 40_000_000
	r.start(context.Background(), limit)
	r.bind(objectRoot, map[string]any{"text": strings.Repeat("a", 10_000)})
	r.activation.Set(variablesRoot, &r.variables)
	r.group(r.program.parts[partValidation], 1<<40)
	if !strings.Contains(r.undecided, "work limit") || r.workLeft > limit {
		t.Errorf("got %q with %d units left", r.undecided, r.workLeft)
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	policy := simplePolicy("object.spec.size <= params.max", "  paramKind: {apiVersion: example.com/v1, kind: Limit}")
	limits := []string{
		`{apiVersion: example.com/v1, kind: Limit, metadata: {name: low, namespace: ns, labels: {tier: a}}, max: 1}`,
		`{apiVersion: example.com/v1, kind: Limit, metadata: {name: high, namespace: ns, labels: {tier: a}}, max: 9}`,
		`{apiVersion: example.com/v1, kind: Limit, metadata: {name: low, namespace: other}, max: 0}`,
	}
	for _, tt := range []struct {
		ref     string
		allowed bool
		params  string // of the evaluations
		failure string
	}{
		{"{name: high, parameterNotFoundAction: Deny}", true, "ns/high", ""},
		{"{name: low, parameterNotFoundAction: Deny}", false, "ns/low", "failed expression: object.spec.size <= params.max"},
		{"{name: low, namespace: other, parameterNotFoundAction: Deny}", false, "other/low", "failed expression: object.spec.size <= params.max"},
		{"{selector: {matchLabels: {tier: a}}, parameterNotFoundAction: Deny}", false, "ns/high ns/low", "failed expression: object.spec.size <= params.max"},
		{"{name: none, parameterNotFoundAction: Allow}", true, "", ""},
		{"{name: none, parameterNotFoundAction: Deny}", false, "", "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
	} {
		binding := strings.Replace(testBinding, "policyName", "paramRef: "+tt.ref+", policyName", 1)
		set := mustCompile(t, Config{Complete: true}, append(limits, policy, binding)...)
		res := evaluate(t, set, widgetRequest(t, OperationCreate, `{spec: {size: 5}}`))
		var params []string
		for _, e := range res.Evaluations {
			if e.Params != "" {
				params = append(params, e.Params)
			}
		}
		if res.Allowed != tt.allowed || strings.Join(params, " ") != tt.params || res.Failure != nil && !strings.HasSuffix(res.Failure.Message, "denied request: "+tt.failure) {
			t.Errorf("%s: got %+v, %v", tt.ref, res, res.Failure)
		}
	}
}

func TestParamDefault(t *testing.T) {
	t.Parallel()
	policy := simplePolicy("true", "  paramKind: {apiVersion: v1, kind: ConfigMap}")
	for version, missing := range map[string]bool{"v1": true, "v1beta1": true, "v1alpha1": false} {
		binding := strings.Replace(testBinding, "policyName", "paramRef: {name: none}, policyName", 1)
		binding = strings.Replace(binding, "k8s.io/v1\n", "k8s.io/"+version+"\n", 1)
		set, err := Compile(documents(t, policy, binding), Config{Complete: true})
		if got := err != nil && strings.Contains(err.Error(), "parameterNotFoundAction"); got != missing {
			t.Errorf("%s: got %v, want an error: %v", version, err, missing)
		}
		if missing {
			continue
		}
		if res := evaluate(t, set, widgetRequest(t, OperationCreate, `{}`)); res.Allowed {
			t.Errorf("%s: a request without params object is allowed", version)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rules   string // instead of the rules of simplePolicy
		change  func(*Request)
		matches bool
	}{
		{"", nil, true},
		{"", func(r *Request) { r.Subresource = "status" }, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"]}]`, func(r *Request) { r.Subresource = "status" }, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["widgets/*"]}]`, func(r *Request) { r.Subresource = "status" }, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}]`, func(r *Request) { r.Subresource = "status" }, false},
		{`[{operations: [DELETE], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}]`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: Cluster}]`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: Cluster}]`, func(r *Request) { r.Namespace = "" }, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], resourceNames: [v]}]`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], resourceNames: [v, w]}]`, nil, true},
		{`[{operations: ["*"], apiGroups: [example.com], apiVersions: [v2], resources: [widgets]}]`, nil, false},
		{`[{operations: ["*"], apiGroups: [example.com], apiVersions: [v2], resources: [widgets]}]`, func(r *Request) {
			r.Equivalents = []Equivalent{{Resource: r.Resource.GroupResource().WithVersion("v2"), Kind: schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"}}}
		}, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}], objectSelector: {matchLabels: {a: b}}`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}], objectSelector: {matchLabels: {a: b}}`, func(r *Request) {
			r.OldObject = map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
		}, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}], excludeResourceRules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}], namespaceSelector: {matchLabels: {a: c}}`, nil, false},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}], namespaceSelector: {matchLabels: {a: b}}`, nil, true},
		{`[{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}]`, func(r *Request) { r.Kind.Group, r.Kind.Kind = registration, "ValidatingAdmissionPolicy" }, false},
	} {
		policy := simplePolicy("false", "")
		if tt.rules != "" {
			const own = `[{operations: ["*"], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]`
			policy = strings.Replace(policy, own, tt.rules, 1)
		}
		req := widgetRequest(t, OperationCreate, `{metadata: {name: w}}`)
		if tt.change != nil {
			tt.change(&req)
		}
		res := evaluate(t, mustCompile(t, Config{}, policy, testBinding, testNamespace), req)
		if res.Allowed == tt.matches {
			t.Errorf("%s: got %+v, want matches=%v", tt.rules, res, tt.matches)
		}
	}
}

func TestWithParams(t *testing.T) {
	t.Parallel()
	const bound = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  validations: [{expression: "false", messageExpression: "string(params.data.a)"}]
`
	const binding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, paramRef: {selector: {}, parameterNotFoundAction: Deny}, validationActions: [Deny]}
`
	params := func(name, value string) map[string]any {
		return documents(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: ns}, data: {a: %s}}", name, value))[0]
	}
	set := mustCompile(t, Config{}, bound, binding, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}, data: {a: old}}")
	empty := mustCompile(t, Config{}, bound, binding)
	elsewhere := mustCompile(t, Config{}, bound, strings.Replace(binding, "selector: {}", "name: x", 1), "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: other}}")
	messages := func(s *Set) (list []string) {
		res, err := s.Evaluate(t.Context(), widgetRequest(t, OperationCreate, "{apiVersion: example.com/v1, kind: Widget}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range res.Undecided {
			list = append(list, u.Reason)
		}
		for _, e := range res.Evaluations {
			for _, d := range e.Decisions {
				list = append(list, d.Message)
			}
		}
		return list
	}
	for _, tt := range []struct {
		name     string
		set      *Set
		params   []map[string]any
		complete bool
		want     string
	}{
		{"none", set, nil, false, "old"},
		{"replaced", set, []map[string]any{params("x", "new")}, false, "new"},
		{"added", set, []map[string]any{params("z", "new"), params("a", "first")}, false, "first|old|new"},
		{"twice", set, []map[string]any{params("z", "one"), params("z", "two")}, false, "old|two"},
		{"missing", empty, nil, false, "no params object of v1 ConfigMap with any labels is among the documents in namespace ns: add it, because the binding refers to it"},
		{"elsewhere", elsewhere, nil, false, "no params object of v1 ConfigMap named x is among the documents in namespace ns: add it, because the binding refers to it; the one of this name is in namespace other"},
		{"known to be missing", empty, nil, true, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
	} {
		derived, err := tt.set.WithParams(tt.params, tt.complete)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(messages(derived), "|"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := strings.Join(messages(set), "|"); got != "old" {
		t.Errorf("WithParams modified the set: got %q", got)
	}
	if _, err := set.WithParams([]map[string]any{{"kind": "ConfigMap"}}, false); err == nil {
		t.Error("an object without apiVersion is accepted")
	}
}

func TestWithExpression(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, testPolicy, testBinding, testNamespace)
	allowed := func(s *Set, size string) bool {
		res, err := s.Evaluate(t.Context(), widgetRequest(t, OperationCreate, "{spec: {size: "+size+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		return res.Allowed
	}
	for _, tt := range []struct {
		part   string
		index  int
		source string
		want   string // whether sizes 3 and 7 are allowed, or an error
	}{
		{"validation", 0, "true", "true true"},
		{"validation", 0, "variables.big", "false true"},
		{"variable", 1, "variables.size > 2", "false false"},
		{"matchCondition", 0, "false", "true true"},
		{"validation", 0, "variables.size", "must evaluate to bool"},
		{"validation", 0, "object.", "Syntax error"},
		{"validation", 9, "true", "has no validation 9"},
		{"other", 0, "true", "has no other 0"},
	} {
		changed, err := set.WithExpression(Expression{Policy: "p", Part: tt.part, Index: tt.index, Source: tt.source})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(allowed(changed, "3"), allowed(changed, "7"))
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s %d: %s: got %q, want %q", tt.part, tt.index, tt.source, got, tt.want)
		}
	}
	if _, err := set.WithExpression(Expression{Policy: "other"}); err == nil {
		t.Error("an unknown policy is accepted")
	}
	changed, err := set.WithExpression(Expression{Policy: "p", Part: "validation", Index: 0, Source: "false"})
	if err != nil || !reflect.DeepEqual(changed.Policies(), set.Policies()) || changed.policies[0].kind != validatingKind {
		t.Errorf("the policy is not the same: got %v, %v", changed.Policies(), err)
	}
	if !allowed(set, "3") || allowed(set, "7") {
		t.Error("WithExpression modified the set")
	}
}

func TestNamespacedParams(t *testing.T) {
	docs := documents(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: example.com/v1, kind: Limit}
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  validations: [{expression: object.spec.size <= params.max}]
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny], paramRef: {name: limit, parameterNotFoundAction: Deny}}
`, `{apiVersion: example.com/v1, kind: Limit, metadata: {name: limit}, max: 5}`)
	req := widgetRequest(t, OperationCreate, `{metadata: {name: w, namespace: ns}, spec: {size: 7}}`)
	for namespaced, failure := range map[bool]string{
		false: "failed expression: object.spec.size <= params.max",
		true:  "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction", // it is in the namespace default
	} {
		set, err := Compile(docs, Config{Complete: true, Namespaced: map[schema.GroupKind]bool{{Group: "example.com", Kind: "Limit"}: namespaced}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Evaluate(t.Context(), req)
		if err != nil || res.Allowed || !strings.HasSuffix(res.Failure.Message, failure) {
			t.Errorf("namespaced %v: got %+v, %v", namespaced, res, err)
		}
	}
}
