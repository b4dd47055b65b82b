package policyvet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func documents(t testing.TB, text string) (docs []map[string]any) {
	t.Helper()
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		data, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatalf("%v\n%s", err, part)
		}
		if string(data) == "null" {
			continue
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

const widgets = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [name]
            properties:
              name: {type: string, maxLength: 20}
              note: {type: string, maxLength: 20}
              replicas: {type: integer, default: 1}
              size: {type: integer}
              paused: {type: boolean}
              tags: {type: array, maxItems: 5, items: {type: string, maxLength: 10}}
              ports: {type: array, maxItems: 3, items: {type: object, properties: {name: {type: string, maxLength: 10}, port: {type: integer}}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func schemas(t testing.TB) *policyvet.Schemas {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(widgets), crd); err != nil {
		t.Fatal(err)
	}
	s, err := policyvet.NewSchemas("", []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vet vets documents without the lint unguarded-read, because most policies of tests read an optional field.
func vet(t testing.TB, text string) []*policyvet.Report {
	t.Helper()
	cfg := policyvet.Config{Schemas: schemas(t), Without: []string{"unguarded-read"}}
	reports, err := policyvet.Vet(context.Background(), documents(t, text), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// policyOf returns a policy with a binding. rules are items of resourceRules, separated by semicolons,
// and rest is more of the spec.
func policyOf(rules, rest string) string {
	text := "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n  matchConstraints:\n    resourceRules:\n"
	for rule := range strings.SplitSeq(rules, ";") {
		text += "    - " + ruleOf(rule) + "\n"
	}
	for line := range strings.Lines(strings.TrimSpace(rest)) {
		text += "  " + line
	}
	return text + "\n---\n" + bindingText
}

const bindingText = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
`

// ruleOf returns a resource rule for text such as "CREATE,UPDATE apps deployments,statefulsets". The
// group core is the empty one, and an optional fourth part is the version.
func ruleOf(text string) string {
	f := strings.Fields(text)
	version := "v1"
	if len(f) > 3 {
		version = f[3]
	}
	list := func(items string) string {
		quoted := strings.Split(items, ",")
		for i, item := range quoted {
			quoted[i] = fmt.Sprintf("%q", strings.TrimPrefix(item, "core"))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprintf("{operations: %s, apiGroups: %s, apiVersions: %s, resources: %s}", list(f[0]), list(f[1]), list(version), list(f[2]))
}

// expressions takes a list that is separated by semicolons.
func expressions(list string) string {
	text := "validations:\n"
	for x := range strings.SplitSeq(list, ";") {
		text += fmt.Sprintf("- {expression: %q}\n", strings.TrimSpace(x))
	}
	return text
}

// found returns the lints of all reports as "name path", sorted.
func found(reports []*policyvet.Report) (list []string) {
	for _, r := range reports {
		for _, l := range r.Lints {
			list = append(list, l.Name+" "+l.Path)
		}
	}
	slices.Sort(list)
	return list
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, path, message string }{
		{policyOf("CREATE example.com widgets", expressions("object.spec.size + ")), "spec.validations[0].expression", "compilation failed: ERROR: <input>:1:19: Syntax error"},
		{policyOf("CREATE example.com widgets", expressions("nope == 1")), "spec.validations[0].expression", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'"},
		{policyOf("CREATE example.com widgets", "validation: []"), "spec.validation", "unknown field"},
		{policyOf("READ example.com widgets", expressions("true")), "spec.matchConstraints.resourceRules[0].operations", `got "READ"`},
		{strings.Replace(policyOf("CREATE example.com widgets", expressions("true")), "resourceRules:", "objectSelector: {matchExpressions: [{key: a, operator: In}]}\n    resourceRules:", 1), "spec.matchConstraints.objectSelector", "invalid selector"},
		{strings.Replace(bindingText, "[Deny]", "[Deny, Warn]", 1), "spec.validationActions", "Deny and Warn"},
	} {
		var errs []policyvet.Error
		accepted := true
		for _, r := range vet(t, tt.text) {
			errs, accepted = append(errs, r.Errors...), accepted && r.Accepted
		}
		if len(errs) == 0 || errs[0].Path != tt.path || !strings.HasPrefix(errs[0].Message, tt.message) || accepted {
			t.Errorf("got %+v (accepted: %v), want %s: %s\n%s", errs, accepted, tt.path, tt.message, tt.text)
		}
	}
}

func TestKubeVersions(t *testing.T) {
	t.Parallel()
	docs := documents(t, policyOf("CREATE example.com widgets", expressions("isSemver('1.0.0')")))
	reports, err := policyvet.Vet(context.Background(), docs, policyvet.Config{KubeVersions: []string{"1.29", "1.33", "1.34"}})
	if err != nil {
		t.Fatal(err)
	}
	r := reports[0]
	if !r.Accepted || r.MinKubeVersion != "1.34" || len(r.KubeVersions) != 3 {
		t.Errorf("got %+v", r)
	}
	for i, accepted := range []bool{false, false, true} {
		if v := r.KubeVersions[i]; v.Accepted != accepted || (len(v.Errors) == 0) != accepted {
			t.Errorf("got %+v", v)
		}
	}
	if min := reports[1].MinKubeVersion; min != "1.30" {
		t.Errorf("the binding is accepted since %s", min)
	}
	if _, err := policyvet.Vet(context.Background(), docs, policyvet.Config{KubeVersion: "1.2"}); err == nil {
		t.Error("an unsupported version is accepted")
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rules, rest, want string }{
		{"CREATE apps deployments,replicasets", expressions("object.replicas > 1"), "spec.validations[0].expression: apps/v1, Kind=Deployment; apps/v1, Kind=ReplicaSet: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^"},
		{"CREATE apps deployments;CREATE core pods", expressions("object.spec.replicas > 1"), "spec.validations[0].expression: /v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n | ...........^"},
		{"CREATE example.com widgets", expressions("object.spec.size == 'a'"), "spec.validations[0].expression: example.com/v1, Kind=Widget: ERROR: <input>:1:18: found no matching overload for '_==_' applied to '(int, string)'\n | object.spec.size == 'a'\n | .................^"},
		{"CREATE example.com widgets", "validations: [{expression: 'true', messageExpression: string(object.spec.nope)}]", "spec.validations[0].messageExpression: example.com/v1, Kind=Widget: ERROR: <input>:1:19: undefined field 'nope'\n | string(object.spec.nope)\n | ..................^"},
		{"CREATE example.com widgets", "variables: [{name: a, expression: object.spec.nope}]\n" + expressions("variables.a == 1"), "spec.variables[0].expression: example.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'nope'\n | object.spec.nope\n | ...........^"},
		{"CREATE core pods", "paramKind: {apiVersion: v1, kind: ConfigMap}\n" + expressions("params.dat.size() == 0"), "spec.validations[0].expression: /v1, Kind=Pod: ERROR: <input>:1:7: undefined field 'dat'\n | params.dat.size() == 0\n | ......^"},
		// A kind that is only matched by "*" counts if the expression is wrong for all kinds.
		{"CREATE apps deployments *", expressions("object.nope == 1"), "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'nope'\n | object.nope == 1\n | ......^"},
		{"CREATE * deployments,pods *", expressions("object.spec.replicas > 1"), ""},
		{"CREATE * * *", expressions("object.nope == 1"), ""},
		{"CREATE unknown.example.com things", expressions("object.nope == 1"), ""},
		{"CREATE core pods", expressions("object.metadata.labels.a == 'b' && object.spec.containers.all(c, quantity(string(c.resources.limits['cpu'])).isLessThan(quantity('1')))"), ""},
		{"CREATE example.com widgets", expressions("object.spec.tags.all(t, t.startsWith(object.metadata.namespace)) && has(object.metadata.annotations)"), ""},
		{"CREATE core pods", "paramKind: {apiVersion: v1, kind: ConfigMap}\n" + expressions("params.data['a'] == 'b'"), ""},
		{"CREATE core pods", expressions("authorizer.requestResource.check('use').allowed()"), ""},
	} {
		var got []string
		for _, w := range vet(t, policyOf(tt.rules, tt.rest))[0].Warnings {
			got = append(got, w.Path+": "+w.Message)
		}
		if text := strings.Join(got, "\n"); text != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.rules, tt.rest, text, tt.want)
		}
	}
}

func TestHarmlessTypes(t *testing.T) {
	t.Parallel()
	const (
		workloads = "CREATE apps deployments;CREATE core pods;CREATE batch cronjobs"
		guard     = "variables: [{name: isPod, expression: \"object.kind == 'Pod'\"}, {name: spec, expression: 'variables.isPod ? object.spec : object.spec.template.spec'}]\n"
	)
	for _, tt := range []struct {
		rules, rest string
		harmless    bool
	}{
		{workloads, expressions("object.kind != 'Pod' || object.spec.containers.size() > 0"), true},
		{workloads, expressions("object.spec.containers.size() > 0 || object.kind != 'Pod'"), true},
		{workloads, expressions("!(request.kind.kind == 'Pod' && object.spec.containers.size() > 0)"), true},
		{workloads, expressions("request.resource.resource == 'pods' ? object.spec.containers.size() > 0 : true"), true},
		{workloads, expressions("['Deployment', 'CronJob'].exists(k, object.kind == k) || object.spec.containers.size() > 0"), true},
		{workloads, expressions("['Deployment', 'CronJob'].all(k, object.kind != k) || object.spec.containers.size() > 0"), false},
		{workloads, expressions("object.kind in ['Deployment', 'CronJob'] || object.spec.containers.size() > 0"), true},
		{workloads, expressions("object.kind == 'Pod' || object.spec.containers.size() > 0"), false},
		{workloads, expressions("has(object.spec.template) && object.spec.template.spec.containers.size() > 0"), false},
		{workloads, expressions("!has(object.spec.template) || object.spec.template.spec.containers.size() > 0"), true},
		{workloads, expressions("object == null || has(object.spec.template)"), true},
		{workloads, expressions("oldObject == null || has(oldObject.spec.template)"), true},
		{workloads, "matchConditions: [{name: a, expression: has(object.spec.template)}]\n" + expressions("object.spec.template.spec.containers.size() > 0"), true},
		{workloads, expressions("object.spec.?template.spec.?containers.orValue([]).size() > 0"), true},
		{"CREATE apps deployments;CREATE core pods", expressions("has(object.spec.template) ? object.spec.template.spec.hostNetwork == true : object.spec.hostNetwork == true"), true},
		{"CREATE apps deployments;CREATE core pods", expressions("has(object.spec.template) || object.spec.template.spec.hostNetwork == true"), false},
		{workloads, expressions("has(object.spec.tempalte) && object.spec.replicas > 0"), false},
		{workloads, guard + expressions("!variables.isPod || object.spec.containers.size() > 0"), true},
		{workloads, guard + expressions("variables.isPod || object.spec.containers.size() > 0"), false},
		{workloads, "matchConditions: [{name: a, expression: \"object.kind == 'Pod'\"}]\n" + expressions("object.spec.containers.size() > 0"), true},
		{"CREATE example.com widgets", expressions("object.spec.open.a == 1"), true},
		{"CREATE example.com widgets", expressions("[object.spec.name, object.spec.size].size() == 2"), true},
		{"CREATE core secrets", expressions("object.data['a'] == 'b'"), true},
		{"CREATE core pods", expressions("(object.spec.containers + object.spec.ephemeralContainers).size() > 1"), true},
	} {
		warnings := vet(t, policyOf(tt.rules, tt.rest))[0].Warnings
		if len(warnings) == 0 {
			t.Errorf("%s: no warnings", tt.rest)
		}
		harmless := true
		for _, w := range warnings {
			harmless = harmless && w.Harmless
		}
		if harmless != tt.harmless {
			t.Errorf("%s: harmless is %v: %+v", tt.rest, harmless, warnings)
		}
	}
	// The position is that of an error that has an effect.
	const late = "has(object.spec.template) || object.spec.template.spec.hostNetwork == true"
	if w := vet(t, policyOf("CREATE core pods", expressions(late)))[0].Warnings; len(w) != 1 || w[0].Offset != strings.LastIndex(late, ".template") {
		t.Errorf("%s: got %+v", late, w)
	}
	// The server does not check variables, so their harmless errors are not reported.
	r := vet(t, policyOf(workloads, guard+expressions("variables.spec.containers.size() > 0 || object.kind == 'CronJob'")))[0]
	if len(r.Warnings) > 0 {
		t.Errorf("got %+v", r.Warnings)
	}
}

func TestDividedKinds(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("name: v1\n", "name: v1beta1\n", "storage: true", "storage: false", "note:", "text:").Replace(widgets[strings.Index(widgets, "  - name: v1"):])
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(widgets+other), crd); err != nil {
		t.Fatal(err)
	}
	s, err := policyvet.NewSchemas("", []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	const v1, v1beta1 = "example.com/v1, Kind=Widget", "example.com/v1beta1, Kind=Widget"
	for _, tt := range []struct {
		expression, hint string
		harmless         bool
	}{
		{"!has(object.spec.note) || object.spec.size > 1", "object.spec.note is a field of " + v1 + ", but not of " + v1beta1, true},
		{"object.spec.?note.orValue('') == ''", "object.spec.note is a field of " + v1 + ", but not of " + v1beta1, true},
		{"has(object.spec.note)", "object.spec.note is a field of " + v1 + ", but not of " + v1beta1 + ", so the validation is never true for " + v1beta1, false},
		{"object.spec.text == 'a'", "object.spec.text is a field of " + v1beta1 + ", but not of " + v1 + ": test it with has()", false},
		{"object.spec.nam == 'a'", "did you mean name?", false},
		{"request.kind.version == 'v1beta1' || object.spec.note == 'a'", "", true},
	} {
		reports, err := policyvet.Vet(context.Background(), documents(t, policyOf("CREATE example.com widgets;CREATE example.com widgets v1beta1", expressions(tt.expression))), policyvet.Config{Schemas: s})
		if err != nil {
			t.Fatal(err)
		}
		w := reports[0].Warnings
		if len(w) == 0 || w[0].Hint != tt.hint || w[0].Harmless != tt.harmless {
			t.Errorf("%s: got %+v", tt.expression, w)
		}
	}
	// A lint names the version that it is about.
	required := strings.Replace(widgets, "required: [name]", "required: [name, size]", 1)
	if err := yaml.Unmarshal([]byte(required+other), crd); err != nil {
		t.Fatal(err)
	}
	if s, err = policyvet.NewSchemas("", []*apiextensionsv1.CustomResourceDefinition{crd}); err != nil {
		t.Fatal(err)
	}
	reports, err := policyvet.Vet(context.Background(), documents(t, policyOf("CREATE example.com widgets;CREATE example.com widgets v1beta1", expressions("object.spec.size > 1"))), policyvet.Config{Schemas: s})
	if err != nil || len(reports[0].Lints) != 1 || !strings.HasPrefix(reports[0].Lints[0].Message, "object.spec.size is optional in "+v1beta1+" and") {
		t.Errorf("got %+v, %v", reports, err)
	}
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	const variables = "variables: [{name: tags, expression: object.spec.tags}, {name: long, expression: 'variables.tags.filter(t, t.size() > 3)'}]\n"
	for _, tt := range []struct {
		rest string
		cost uint64
		fits bool
	}{
		{expressions("object.spec.replicas > 1"), 4, true},
		{expressions("object.spec.replicas > 1; object.spec.replicas < 9"), 8, true},
		{expressions("object.spec.tags.all(t, t == 'a')"), 29, true},
		// The variable costs 3, and has the declared bounds.
		{variables + expressions("variables.tags.all(t, t == 'a')"), 31, true},
		{variables + expressions("variables.tags.all(t, t == 'a'); variables.tags.size() > 1"), 35, true},
		{"validations: [{expression: object.spec.replicas > 1, messageExpression: \"'replicas: ' + string(object.spec.replicas)\"}]", 13, true},
		{expressions("!('admins' in request.userInfo.groups)"), 349529, true},
		{expressions("object.metadata.labels.all(k, k != 'a')"), 0, false},
	} {
		e := vet(t, policyOf("CREATE example.com widgets", tt.rest))[0].Estimates
		if len(e) != 1 || e[0].Fits() != tt.fits || tt.fits && e[0].Validations != tt.cost {
			t.Errorf("%s: got %+v, want %d", tt.rest, e, tt.cost)
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	text := policyOf("CREATE example.com widgets", expressions("object.spec.size > 1"))
	for i, r := range vet(t, text+"---\n"+text+"---\n"+strings.Replace(text, "size > 1", "size >", 1)) {
		if r.Accepted != (i != 4) || len(r.Lints) > 0 {
			t.Errorf("%d: got %+v", i, r)
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := policyvet.Vet(ctx, documents(t, bindingText), policyvet.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if reports, err := policyvet.Vet(ctx, documents(t, "{apiVersion: v1, kind: Pod}"), policyvet.Config{}); reports != nil || err != nil {
		t.Errorf("got %v, %v", reports, err)
	}
}
