package policyvet_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func TestLintsHavePages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/lints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policyvet.LintNames() {
		if !strings.Contains(string(page), "\n## "+name+"\n") {
			t.Errorf("docs/lints.md has no section %q", name)
		}
	}
}

// A lintTest has a policy and its lints, as "name path" without the prefix spec.
type lintTest struct {
	rules, rest string
	want        []string
}

func testLints(t *testing.T, tests []lintTest) {
	t.Helper()
	for _, tt := range tests {
		text := policyOf(tt.rules, tt.rest)
		reports := vet(t, text)
		for _, r := range reports {
			for _, e := range r.Errors {
				t.Errorf("%s: %s\n%s", e.Path, e.Message, text)
			}
		}
		got := found(reports)
		for i := range got {
			got[i] = strings.Replace(got[i], " spec.", " ", 1)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q\n%s", got, tt.want, text)
		}
	}
}

func TestNullObject(t *testing.T) {
	t.Parallel()
	const (
		widget = "CREATE,UPDATE,DELETE example.com widgets"
		first  = "null-object validations[0].expression"
	)
	var tests []lintTest
	add := func(rules, rest string, want ...string) { tests = append(tests, lintTest{rules, rest, want}) }
	for _, x := range []string{
		"object.spec.size > 1",
		"object.metadata.name != 'a' || oldObject.spec.size > 1",
		"request.operation == 'CREATE' || object.spec.size > 1",
		"request.operation != 'DELETE' && true || object.spec.size > 1",
		"oldObject == null || object.spec.size > 1",
		"object != oldObject && object['spec'].size == 1",
		"size(object.spec) == 1",
		"'spec' in object",
		"[object].all(o, o.spec.size > 1)",
		"object.spec.tags.all(t, t == 'a')",
		"(has(request.dryRun) ? object : oldObject).spec.size == 1",
	} {
		add("DELETE example.com widgets", expressions(x), first)
	}
	for _, x := range []string{
		"object == null || object.spec.size > 1",
		"object != null ? object.spec.size > 1 : true",
		"request.operation == 'DELETE' || object.spec.size > 1",
		"request.operation in ['DELETE', 'CONNECT'] || object.spec.size > 1",
		"!(request.operation in ['CREATE', 'UPDATE']) || object.spec.size > 1",
		"!has(object.spec) || object.spec.size > 1",
		"object.?spec.?size.orValue(3) > 1",
		"object.?spec.size.orValue(3) > 1",
		"object.?spec.optMap(s, s.size > object.spec.replicas).orValue(true)",
		"(object == null ? oldObject : object).spec.size > 1",
		"optional.of(object != null ? object : oldObject).optMap(o, o.spec.size > 1).orValue(true)",
		"[object, oldObject].filter(o, o != null).all(o, o.spec.size > 1)",
		"request.name != 'a'",
		"oldObject.spec.size > 1",
		"type(object) == null_type || object.spec.size > 1 || request.operation == 'DELETE'",
		"dyn(object) == null || object.spec.size > 1",
	} {
		add("DELETE example.com widgets", expressions(x))
	}
	for x, fails := range map[string]bool{
		"request.resource.resource == 'widgets' || object.spec.size > 1": false,
		"request.kind.kind == 'Widget' || object.spec.size > 1":          false,
		"oldObject.kind == 'Widget' || object.spec.size > 1":             false,
		"request.resource.resource != 'widgets' || object.spec.size > 1": true,
	} {
		var want []string
		if fails {
			want = []string{first}
		}
		add("UPDATE core pods;DELETE example.com widgets", expressions(x), want...)
		add("UPDATE core pods;DELETE * *", expressions(x), first)
	}
	// Variables, matchConditions, exclusions, and other operations.
	variables := "variables: [{name: isDelete, expression: \"request.operation == 'DELETE'\"}, {name: size, expression: object.spec.size}, {name: any, expression: 'variables.isDelete ? oldObject : object'}]\n"
	add(widget, variables+expressions("variables.isDelete || variables.size > 1; variables.any.spec.size > 1"))
	add(widget, variables+expressions("variables.size > 1; variables.any.spec.size > 1"), first)
	generated := "paramKind: {apiVersion: v1, kind: ConfigMap}\nvariables: [{name: params, expression: '!has(params.data) ? null : params.data'}, {name: either, " +
		"expression: 'has(request.operation) && request.operation == \"DELETE\" && object == null ? oldObject : object'}]\n"
	add("* * *", generated+expressions("(has(request.operation) && request.operation == 'UPDATE') || !has(variables.params.on) || !variables.params.on || variables.either.spec.size > 1"))
	add("* * *", generated+expressions("has(variables.params.on) && object.spec.size > 1 || variables.either.spec.size > 1"), first)
	conditions := "matchConditions: [{name: a, expression: \"request.operation != 'DELETE'\"}]\n"
	add(widget, conditions+expressions("object.spec.size > 1"))
	add(widget, "matchConditions: [{name: a, expression: object.spec.size > 1}]\n"+expressions("object.spec.size > 1"), "null-object matchConditions[0].expression")
	add("* example.com widgets", expressions("object.spec.size > 1"), first)
	add("CREATE,UPDATE example.com widgets", expressions("object.spec.size > 1"))
	add("* example.com widgets/status", expressions("object.spec.size > 1"))
	add("* example.com widgets/*", expressions("object.spec.size > 1"), first, "subresource-object validations[0].expression")
	add("CREATE,UPDATE example.com widgets", expressions("oldObject.spec.size > 1"), first)
	add("CREATE,UPDATE example.com widgets", expressions("oldObject == null || oldObject.spec.size > 1; request.operation != 'UPDATE' || oldObject.spec.size == 1"))
	add("UPDATE example.com widgets", expressions("object.spec.size == oldObject.spec.size"))
	add("DELETE example.com widgets", expressions("true")+"auditAnnotations: [{key: a, valueExpression: string(object.spec.size)}]", "null-object auditAnnotations[0].valueExpression")
	add("DELETE example.com widgets", "validations: [{expression: oldObject.spec.size > 1, messageExpression: string(object.spec.size)}]")
	testLints(t, tests)

	excluded := strings.Replace(policyOf(widget, expressions("object.spec.size > 1")), "    resourceRules:", "    excludeResourceRules: ["+ruleOf("DELETE * * *")+"]\n    resourceRules:", 1)
	if got := found(vet(t, excluded)); len(got) > 0 {
		t.Errorf("excludeResourceRules: got %q", got)
	}
	bound := strings.Replace(policyOf(widget, expressions("object.spec.size > 1")), "policyName: p", "policyName: p, matchResources: {resourceRules: ["+ruleOf("CREATE example.com widgets")+"]}", 1)
	if got := found(vet(t, bound)); len(got) > 0 {
		t.Errorf("binding for CREATE: got %q", got)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	message := func(text string) string {
		return "validations:\n- expression: 'true'\n  message: " + quote(text) + "\n"
	}
	var tests []lintTest
	for text, cel := range map[string]bool{
		"'replicas must be no greater than ' + string(params.maxReplicas)": true,
		"object.metadata.name + ' is not allowed'":                         true,
		"'%s is too large'.format([object.metadata.name])":                 true,
		"object.spec.size > 3 ? 'too large' : 'too small'":                 true,
		"replicas must be at most ' + string(params.max) + '":              true,
		"\"size is \" + variables.size":                                    true,
		"size must be at most {{ params.max }}":                            true,
		"size must be at most ${object.spec.max}":                          true,
		"size must be at most {object.spec.max}":                           true,
		"object.spec.replicas must be no greater than 5":                   false,
		"forbidden":                          false,
		"not-allowed":                        false,
		"object.spec.replicas <= 5":          false,
		"set spec.size, not object.spec.old": false,
		"'quoted'":                           false,
		"use a + b":                          false,
		"a + b":                              false,
		"labels must match {app: name}":      false,
		"either 'a' or 'b' + a suffix":       false,
		"the field object.spec.a must be set (see https://example.com/docs)": false,
	} {
		var want []string
		if cel {
			want = []string{"cel-in-message validations[0].message"}
		}
		tests = append(tests, lintTest{"CREATE example.com widgets", message(text), want})
	}
	testLints(t, tests)
}

func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

func TestVariables(t *testing.T) {
	t.Parallel()
	const three = "variables: [{name: a, expression: 'true'}, {name: b, expression: variables.a}, {name: c, expression: variables.b}]\n"
	testLints(t, []lintTest{
		{"CREATE example.com widgets", three + expressions("variables.c"), nil},
		{"CREATE example.com widgets", three + expressions("variables.b"), []string{"unused-variable variables[2].expression"}},
		{"CREATE example.com widgets", three + expressions("true"), []string{"unused-variable variables[0].expression", "unused-variable variables[1].expression", "unused-variable variables[2].expression"}},
		{"CREATE example.com widgets", three + "validations: [{expression: 'true', messageExpression: string(variables.c)}]", nil},
		{"CREATE example.com widgets", three + expressions("has(variables.c)"), nil},
		{"CREATE example.com widgets", three + expressions("dyn(variables).c == true"), nil},
		{"CREATE example.com widgets", three + expressions("[1].all(variables, variables == 1)"), nil},
	})
}

func TestSubresources(t *testing.T) {
	t.Parallel()
	const (
		first     = "missed-subresource validations[0].expression"
		ephemeral = "!has(object.spec.ephemeralContainers) || object.spec.ephemeralContainers.all(c, c.image != 'a')"
		limits    = "object.spec.containers.all(c, string(c.resources.limits['memory']) == '1Gi')"
	)
	testLints(t, []lintTest{
		{"CREATE,UPDATE core pods", expressions(ephemeral), []string{first}},
		{"CREATE,UPDATE core pods,pods/ephemeralcontainers", expressions(ephemeral), nil},
		{"CREATE core pods;UPDATE core pods/ephemeralcontainers", expressions(ephemeral), nil},
		{"CREATE,UPDATE core pods/*", expressions(ephemeral), []string{"subresource-object validations[0].expression"}}, // of a Binding
		{"CREATE,UPDATE core pods", "variables: [{name: all, expression: 'object.spec.containers + object.spec.?ephemeralContainers.orValue([])'}]\n" + expressions("variables.all.all(c, c.image != 'a')"), []string{"missed-subresource variables[0].expression"}},
		{"CREATE,UPDATE core pods", expressions("object.spec.containers.all(c, c.image != 'a')"), nil},
		{"CREATE,UPDATE core pods", expressions(limits), []string{first}},
		{"CREATE,UPDATE core pods,pods/resize", expressions(limits), nil},
		{"CREATE,UPDATE core pods", expressions("object.spec.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)"), nil},
		{"CREATE,UPDATE apps deployments", expressions("object.spec.replicas < 5"), []string{first}},
		{"CREATE,UPDATE apps deployments,deployments/scale", expressions("object.spec.replicas < 5"), nil},
		{"CREATE apps deployments", expressions("object.spec.replicas < 5"), nil},
		{"CREATE,UPDATE apps daemonsets", expressions("!has(object.spec.x)"), nil},
		{"CREATE,UPDATE example.com widgets", expressions("object.spec.replicas < 5"), []string{first}},
		{"CREATE,UPDATE example.com widgets", expressions("has(object.spec.replicas)"), nil},
	})
	companion := policyOf("CREATE,UPDATE apps deployments", expressions("object.spec.replicas < 5")) + "---\n" +
		strings.Replace(policyOf("UPDATE apps deployments/scale", expressions("object.spec.replicas < 5")), "name: p}", "name: q}", 1)
	for _, lint := range found(vet(t, companion[:strings.LastIndex(companion, "---")])) {
		if strings.HasPrefix(lint, "missed-subresource") {
			t.Errorf("a policy for the subresource exists: got %s", lint)
		}
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	for selector, empty := range map[string]bool{
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [c]}]}":                          true,
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: NotIn, values: [b, c]}]}":                    true,
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: DoesNotExist}]}":                             true,
		"{matchExpressions: [{key: a, operator: Exists}, {key: a, operator: DoesNotExist}]}":                      true,
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: In, values: [d]}]}":       true,
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: In, values: [c]}]}":       false,
		"{matchExpressions: [{key: a, operator: In, values: [b, c]}, {key: a, operator: NotIn, values: [c]}]}":    false,
		"{matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}, {key: b, operator: DoesNotExist}]}": false,
		"{matchExpressions: [{key: a, operator: DoesNotExist}, {key: a, operator: NotIn, values: [b]}]}":          false,
		"{}": false,
	} {
		for _, field := range []string{"namespaceSelector", "objectSelector"} {
			inPolicy := strings.Replace(policyOf("CREATE core pods", expressions("true")), "    resourceRules:", "    "+field+": "+selector+"\n    resourceRules:", 1)
			inBinding := strings.Replace(policyOf("CREATE core pods", expressions("true")), "policyName: p", "policyName: p, matchResources: {"+field+": "+selector+"}", 1)
			for text, path := range map[string]string{inPolicy: "spec.matchConstraints.", inBinding: "spec.matchResources."} {
				var want []string
				if empty {
					want = []string{"empty-selector " + path + field}
				}
				if got := found(vet(t, text)); !slices.Equal(got, want) {
					t.Errorf("%s: got %q, want %q", selector, got, want)
				}
			}
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for rule, message := range map[string]string{
		"CREATE core deployments":              `no resource deployments is in the core group (""), so this matches nothing: it is in the group apps`,
		"CREATE core deployment":               `no resource deployment is in the core group (""), so this matches nothing: did you mean deployments in the group apps?`,
		"CREATE core pod":                      `no resource pod is in the core group (""), so this matches nothing: did you mean pods?`,
		"CREATE core,apps Deployment":          `no resource Deployment is in the core group ("") or the group apps, so this matches nothing: did you mean deployments?`,
		"CREATE core pods/ephemeralcontainer":  "pods has no subresource ephemeralcontainer, so this matches nothing: did you mean ephemeralcontainers?",
		"CREATE core pods,pods/exec,pods/*":    "",
		"CREATE core,apps deployments,pods":    "",
		"CREATE core */scale":                  "",
		"CREATE * deployment":                  "",
		"CREATE example.com widget":            "",
		"CREATE batch jobs,cronjobs":           "",
		"CREATE core serviceaccounts/token":    "",
		"CREATE rbac.authorization.k8s.io *":   "",
		"CREATE core namespaces,nodes,secrets": "",
	} {
		var got string
		for _, r := range vet(t, policyOf(rule, expressions("true"))) {
			for _, l := range r.Lints {
				got += l.Message
			}
		}
		if got != message {
			t.Errorf("%s: got %q, want %q", rule, got, message)
		}
	}
}

func TestIgnoredErrors(t *testing.T) {
	t.Parallel()
	const (
		ignore = "failurePolicy: Ignore\n"
		first  = "ignored-error validations[0].expression"
	)
	testLints(t, []lintTest{
		{"CREATE example.com widgets", ignore + expressions("object.spec.size > 1"), []string{first}},
		{"CREATE example.com widgets", expressions("object.spec.size > 1"), nil},
		{"CREATE example.com widgets", ignore + expressions("has(object.spec.size) && object.spec.size > 1"), nil},
		{"CREATE example.com widgets", ignore + expressions("object.spec.?size.orValue(1) > 1"), nil},
		{"CREATE example.com widgets", ignore + expressions("object.spec.replicas > 1 && object.spec.name == 'a' && object.metadata.name == 'a' && object.metadata.namespace == 'b'"), nil},
		{"CREATE example.com widgets", ignore + expressions("object.metadata.labels.a == 'b'"), []string{first}},
		{"CREATE example.com widgets", ignore + expressions("has(object.metadata.labels) && object.metadata.labels['a.b/c'] == 'b'"), []string{first}},
		{"CREATE example.com widgets", ignore + expressions("has(object.metadata.labels) && 'a.b/c' in object.metadata.labels && object.metadata.labels['a.b/c'] == 'b'"), nil},
		{"CREATE example.com widgets", ignore + expressions("has(object.spec.ports) && object.spec.ports.all(p, p.port > 1)"), []string{first}},
		{"CREATE example.com widgets", ignore + expressions("has(object.spec.ports) && object.spec.ports.all(p, has(p.port) && p.port > 1)"), nil},
		{"CREATE example.com widgets", ignore + "variables: [{name: has, expression: has(object.spec.size)}]\n" + expressions("!variables.has || object.spec.size > 1"), nil},
		{"CREATE example.com widgets", ignore + expressions("has(object.spec.open) && object.spec.open.x == 1"), nil},
		{"CREATE core pods", ignore + expressions("object.spec.containers.all(c, c.workingDir != 'a')"), []string{first}},
		{"CREATE core pods", ignore + expressions("object.spec.serviceAccountName == 'a'"), []string{first}},
		{"CREATE unknown.example.com things", ignore + expressions("object.spec.x == 1"), nil},
	})
}

func TestUnguardedReads(t *testing.T) {
	t.Parallel()
	const first = "unguarded-read spec.validations[0].expression"
	patch := func(path, rest string) string {
		text := mutatingPolicyOf("CREATE core pods", "Object{}", rest)
		return strings.Replace(text, `{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{}"}}`,
			`{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '`+path+`', value: 'x'}]"}}`, 1)
	}
	for _, tt := range []struct {
		text string
		want []string
	}{
		{policyOf("CREATE example.com widgets", expressions("object.spec.size > 1")), []string{first}},
		{policyOf("CREATE example.com widgets", expressions("object.spec.size > 1; object.spec.size < 9")), []string{first}},
		{policyOf("CREATE example.com widgets", expressions("object.spec.size > 1; object.metadata.labels.a == 'b'; object.spec.size < 9")), []string{first, "unguarded-read spec.validations[1].expression"}},
		{policyOf("CREATE core pods", "paramKind: {apiVersion: example.com/v1, kind: Widget}\n"+expressions("params.spec.size > 1")), []string{first}},
		{policyOf("CREATE core pods", "paramKind: {apiVersion: example.com/v1, kind: Widget}\n"+expressions("!has(params.spec.size) || params.spec.size > 1")), nil},
		{policyOf("CREATE core pods", "paramKind: {apiVersion: v1, kind: ConfigMap}\n"+expressions("params.data.a == 'b'")), nil},
		{policyOf("CREATE rbac.authorization.k8s.io rolebindings", expressions("!has(object.subjects) || object.subjects.all(s, s.kind == 'ServiceAccount' && s.namespace == 'a')")), nil},
		{policyOf("CREATE rbac.authorization.k8s.io rolebindings", expressions("!has(object.subjects) || object.subjects.all(s, s.namespace == 'a')")), []string{first}},
		{policyOf("CREATE example.com widgets", expressions("!has(object.spec.size) || object.spec.size > 1")), nil},
		{policyOf("CREATE example.com widgets", expressions("object.spec.?size.orValue(2) > 1")), nil},
		{policyOf("CREATE core replicationcontrollers", expressions("object.spec.template.spec.containers.all(c, c.image != 'a')")), nil},
		{policyOf("CREATE core pods", expressions("object.metadata.labels.exists(k, k == 'a')")), []string{first}},
		{policyOf("DELETE core pods", expressions("object.metadata.labels.exists(k, k == 'a')")), []string{"null-object spec.validations[0].expression"}},
		{patch("/spec/tolerations/-", ""), []string{"unguarded-read spec.mutations[0].jsonPatch.expression"}},
		{patch("/metadata/labels/a~1b", ""), []string{"unguarded-read spec.mutations[0].jsonPatch.expression"}},
		{patch("/metadata/labels", ""), nil},
		{patch("/spec/containers/0/image", ""), nil},
		{patch("/spec/tolerations/-", "matchConditions: [{name: a, expression: has(object.spec.tolerations)}]"), nil},
		{patch("", ""), nil},
		{patch("/", ""), nil},
	} {
		reports, err := policyvet.Vet(context.Background(), documents(t, tt.text), policyvet.Config{Schemas: schemas(t)})
		if err != nil {
			t.Fatal(err)
		}
		if got := found(reports); !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q\n%s", got, tt.want, tt.text)
		}
	}
}

func TestAccountPrefixes(t *testing.T) {
	t.Parallel()
	const open = "open-prefix validations[0].expression"
	var tests []lintTest
	for prefix, want := range map[string][]string{
		"system:serviceaccount:infra": {open}, "system:serviceaccount:infra:": nil, "system:serviceaccount:": nil, "system:serviceaccount:kube-": nil,
		"system:serviceaccount:infra:ci-": nil, "system:node:": nil, "system:serviceaccounts:infra": nil,
	} {
		tests = append(tests, lintTest{"CREATE core pods", expressions("request.userInfo.username.startsWith('" + prefix + "')"), want})
	}
	tests = append(tests,
		lintTest{"CREATE core pods", expressions("request.userInfo.groups.exists(g, g.startsWith('system:serviceaccount:a') || g.startsWith('system:serviceaccount:b'))"), []string{open}},
		lintTest{"CREATE core pods", expressions("namespaceObject.metadata.name != 'a'"), nil},
		lintTest{"CREATE core pods", "matchConditions: [{name: a, expression: namespaceObject.metadata.name != 'a'}]\n" + expressions("true"),
			[]string{"no-namespace-object matchConditions[0].expression"}})
	testLints(t, tests)
	hooks := strings.Replace(webhook, "expression: 'true'", "expression: namespaceObject == null || namespaceObject.metadata.name != 'a'", 1)
	if got := found(vet(t, hooks)); !slices.Contains(got, "no-namespace-object webhooks[1].matchConditions[0].expression") {
		t.Errorf("got %q", got)
	}
}

func TestTextOrders(t *testing.T) {
	t.Parallel()
	const order = "text-order validations[0].expression"
	var tests []lintTest
	for expression, want := range map[string][]string{
		"object.spec.size <= '2Gi'":                            {order},
		"'500m' > object.spec.size":                            {order},
		"object.spec['size'] >= '1.5Ti' && true":               {order},
		"[object].all(o, o.spec.size < '10M')":                 {order},
		"object.spec.size <= '2'":                              nil,
		"object.spec.size <= '2GiB'":                           nil,
		"object.spec.size == '2Gi'":                            nil, // servers write quantities in one way
		"'1Gi' < '2Gi'":                                        nil,
		"string(object.spec.size) < '2Gi'":                     nil,
		"quantity('1Gi').compareTo(quantity('2Gi')) < 0":       nil,
		"object.spec.size < '99999999999999999999999999999Gi'": nil,
	} {
		tests = append(tests, lintTest{"CREATE example.com gadgets", expressions(expression), want})
	}
	testLints(t, tests)
}

func TestBindings(t *testing.T) {
	t.Parallel()
	unbound, _, _ := strings.Cut(policyOf("CREATE core pods", expressions("true")), "---")
	if got := found(vet(t, unbound)); !slices.Equal(got, []string{"no-binding "}) {
		t.Errorf("got %q", got)
	}
	if got := found(vet(t, bindingText)); !slices.Equal(got, []string{"no-policy spec.policyName"}) {
		t.Errorf("got %q", got)
	}
	reports, err := policyvet.Vet(context.Background(), documents(t, unbound), policyvet.Config{Without: policyvet.LintNames()})
	if err != nil || len(found(reports)) > 0 {
		t.Errorf("without lints: got %q, %v", found(reports), err)
	}
}

const webhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: a.example.com
  failurePolicy: Ignore
  rules: [{operations: [CREATE, DELETE], apiGroups: [""], apiVersions: [v1], resources: [pods, deployments]}]
  matchConditions: [{name: a, expression: object.spec.nodeName == 'x'}, {name: b, expression: object.nope == 1}]
- name: b.example.com
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  objectSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: DoesNotExist}]}
  matchConditions: [{name: a, expression: 'true'}]
- name: c.example.com
`

func TestWebhooks(t *testing.T) {
	t.Parallel()
	reports := vet(t, webhook)
	want := []string{"empty-selector webhooks[1].objectSelector", "ignored-error webhooks[0].matchConditions[0].expression", "null-object webhooks[0].matchConditions[0].expression", "unknown-resource webhooks[0].rules[0].resources[1]"}
	if got := found(reports); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := reports[0]; !r.Accepted || len(r.Warnings) != 1 || r.Warnings[0].Path != "webhooks[0].matchConditions[1].expression" || len(r.Estimates) != 2 {
		t.Errorf("got %+v", r)
	}
	if docs := documents(t, strings.ReplaceAll(webhook, "matchConditions", "other")); policyvet.IsVetted(docs[0]) {
		t.Error("a webhook configuration without matchConditions is vetted")
	}
}
