package requests_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

const crdText = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations: [{rule: self.size != 7}]
            properties:
              size: {type: integer, minimum: 0, maximum: 1000000}
              mode: {type: string, maxLength: 20}
              image: {type: string, maxLength: 100}
              ports: {type: array, maxItems: 5, items: {type: object, properties: {port: {type: integer}, name: {type: string, maxLength: 10}}}}
`

func policyText(operations, expression, fields string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: %s, resources: [things]}]}
  validations: [{expression: %q}]
%s
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Deny}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: default}
data: {max: "31337", word: teapot}
`, operations, expression, fields)
}

func finder(t testing.TB, text string, steps int) *requests.Finder {
	t.Helper()
	return finderOf(t, crdText, text, steps)
}

func finderOf(t testing.TB, crdText, text string, steps int) *requests.Finder {
	t.Helper()
	return finderWith(t, crdText, text, requests.Config{Seed: 1, Steps: steps, User: policy.User{Name: "admin", Groups: []string{"admins"}}})
}

func finderWith(t testing.TB, crdText, text string, cfg requests.Config) *requests.Finder {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(crdText), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var documents []map[string]any
	for _, text := range strings.Split(text, "---\n") {
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, doc)
	}
	set, err := policy.Compile(documents, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Set, cfg.Documents = set, documents
	f, err := requests.New(t.Context(), crd, e, "v1", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFind(t *testing.T) {
	t.Parallel()
	const params = "  paramKind: {apiVersion: v1, kind: ConfigMap}"
	for _, tt := range []struct {
		operations, expression, fields string
		want                           requests.Want
		found                          policy.Operation // "" if nothing is to be found
	}{
		{`[CREATE]`, "object.spec.size <= 5", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size != 424242", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.metadata.finalizers)", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.metadata.ownerReferences) || object.metadata.ownerReferences.all(o, o.kind != 'DaemonSet')", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.metadata.?annotations.orValue({}).all(k, !k.startsWith('fluxcd.io/'))", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size != int(params.data.max)", params, requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.mode) || object.spec.mode != params.data.word", params, requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size != 7", "", requests.Denied, ""}, // the CRD rejects it
		{`[UPDATE]`, "object.spec.size >= oldObject.spec.size", "", requests.Denied, policy.OperationUpdate},
		{`["*"]`, "variables.half <= 500", "  variables: [{name: half, expression: object.spec.size / 2}]", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(p, has(p.name) && p.port > 1024)", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.metadata.labels) || !('tier' in object.metadata.labels) || object.metadata.labels.tier != 'gold'", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "request.userInfo.username != 'mallory'", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size < 5", "  matchConditions: [{name: c, expression: \"!('admins' in request.userInfo.groups)\"}]", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(params, !has(params.name) || params.name != 'gamma' || params.port != 4711)", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(object, object.port != 4711)", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(variables, variables.port != 4711)", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.kind == 'Pod' ? object.spec.containers.size() > 0 : object.spec.size != 424242", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "object.kind != 'Thing' || (object.kind in ['A', 'B'] ? object.spec.absent.x : object.spec).size != 424242", "", requests.Denied, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(p, object.spec.ports.exists_one(q, q == p))", "", requests.Denied, policy.OperationCreate},
		{`[DELETE]`, "oldObject.spec.size < 5", "", requests.Denied, policy.OperationDelete},
		// Failures: null on DELETE, a missing field, and an index.
		{`["*"]`, "object.spec.size < 5", "", requests.Fails, policy.OperationDelete},
		{`[CREATE, UPDATE]`, "object.spec.mode == 'a'", "", requests.Fails, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size < 1000 || object.spec.ports[4].port > 0", "", requests.Fails, policy.OperationCreate},
		{`[CREATE]`, "object.metadata.labels.team != ''", "", requests.Fails, policy.OperationCreate},
		{`[CREATE]`, "object.spec.size < 5 || object.spec.size / (object.spec.size - 4242) >= 0", "", requests.Fails, policy.OperationCreate},
		{`[CREATE]`, "!has(object.spec.mode) || object.spec.mode == 'a'", "", requests.Fails, ""},
	} {
		t.Run(string(tt.want)+" "+tt.expression, func(t *testing.T) {
			t.Parallel()
			f := finder(t, policyText(tt.operations, tt.expression, tt.fields), 0)
			all := f.Validations()
			if len(all) != 1 || all[0].Expression != tt.expression {
				t.Fatalf("got %v", all)
			}
			a, err := f.Find(t.Context(), all[0], tt.want)
			switch {
			case err != nil:
				t.Fatal(err)
			case a.Request == nil:
				if tt.found != "" {
					t.Errorf("nothing found with %d requests", a.Tried)
				}
			case a.Request.Operation != tt.found || a.Binding != "b" || a.Message == "":
				t.Errorf("got %+v, want operation %q", a, tt.found)
			}
		})
	}
}

func TestFindNamespace(t *testing.T) {
	t.Parallel()
	const other = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {tier: web}}}\n"
	for _, tt := range []struct{ selector, documents, want string }{
		{"{matchLabels: {tier: web}}", other, "shop"},
		{"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [a, default]}]}", other, "shop"},
		{"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [b, c]}]}", "", "b"},
		{"{matchLabels: {kubernetes.io/metadata.name: c}}", "", "c"},
		{"{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [a, b]}]}", other, "default"},
		{"{matchLabels: {tier: db}}", other, ""},
	} {
		text := strings.Replace(policyText("[CREATE, UPDATE]", "object.spec.size <= 5 && request.namespace != 'x'", ""), "matchConstraints: {", "matchConstraints: {namespaceSelector: "+tt.selector+", ", 1)
		f := finder(t, strings.Replace(text, ", paramRef: {name: limits, parameterNotFoundAction: Deny}", "", 1)+tt.documents, 60)
		a, err := f.Find(t.Context(), f.Validations()[0], requests.Denied)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if a.Request != nil {
			got = a.Request.Namespace
		}
		if got != tt.want {
			t.Errorf("%s: got namespace %q, want %q: %s", tt.selector, got, tt.want, a.Reason)
		}
	}
}

func TestFindAgainst(t *testing.T) {
	t.Parallel()
	condition := func(expression string) string {
		return fmt.Sprintf("  matchConditions: [{name: c, expression: %q}]", expression)
	}
	selector := func(field, key, operator, values string) [2]string {
		const resources = "resources: [things]}]"
		return [2]string{resources, fmt.Sprintf("%s, %s: {matchExpressions: [{key: %s, operator: %s%s}]}", resources, field, key, operator, values)}
	}
	const size = "object.spec.size <= 5"
	plain := policyText("[CREATE, UPDATE]", size, "")
	selected := func(change [2]string) string { return strings.Replace(plain, change[0], change[1], 1) }
	const proved = "proved"
	for _, tt := range []struct {
		name, other string
		// A part of the request that plain alone denies, and of one that only the other policy denies; "" if nothing
		// is found, or proved.
		plain, only string
	}{
		{"namespace", policyText("[CREATE, UPDATE]", size, condition("request.namespace != 'kube-system'")), "kube-system", proved},
		{"user", policyText("[CREATE, UPDATE]", size, condition("request.userInfo.username != 'bob'")), "bob", proved},
		{"only a user", policyText("[CREATE, UPDATE]", size, condition("request.userInfo.username == 'bob'")), "admin", proved},
		{"group", policyText("[CREATE, UPDATE]", size, condition("!('testers' in request.userInfo.groups)")), "testers", proved},
		{"name", policyText("[CREATE, UPDATE]", size, condition("!object.metadata.name.startsWith('exempt')")), "exempt", proved},
		{"annotation", policyText("[CREATE, UPDATE]", size, condition("object.metadata.?annotations['example.com/skip'].orValue('') != 'yes'")), "example.com/skip:yes", proved},
		{"namespace selector", selected(selector("namespaceSelector", "kubernetes.io/metadata.name", "NotIn", ", values: [kube-system]")), "kube-system", ""},
		{"object selector", selected(selector("objectSelector", "skip", "DoesNotExist", "")), "skip:", ""},
		{"required label", selected(selector("objectSelector", "tier", "In", ", values: [web]")), "", ""},
		{"the same with a warning", plain + "---\n" + strings.NewReplacer("name: p}", "name: q}", "policyName: p", "policyName: q", "[Deny]", "[Warn]").Replace(strings.SplitN(plain, "---\n", 3)[0]), proved, proved},
		{"larger bound", policyText("[CREATE, UPDATE]", "object.spec.size <= 6", ""), "size:6", proved},
		{"same meaning", policyText("[CREATE, UPDATE]", "!(object.spec.size > 5)", ""), proved, proved},
	} {
		finders := [2]*requests.Finder{finder(t, plain, 0), finder(t, tt.other, 0)}
		for i, want := range []string{tt.plain, tt.only} {
			v := finders[i].Validations()[0]
			is, err := finders[i].DeniedByBoth(v, finders[1-i])
			if err != nil || is != (want == proved) {
				t.Errorf("%s: side %d: denied by both: got %v, %v", tt.name, i, is, err)
			}
			if is {
				continue
			}
			a, err := finders[i].FindAgainst(t.Context(), v, finders[1-i])
			if err != nil {
				t.Fatal(err)
			}
			if want == "" != (a.Request == nil) && tt.name != "required label" || a.Request != nil && !strings.Contains(fmt.Sprint(a.Request), want) {
				t.Errorf("%s: side %d: got %v", tt.name, i, a.Request)
			}
		}
	}
}

// TestDeniedByBothIgnoring checks that a failure in the other policy, which lets a request pass, prevents a proof.
func TestDeniedByBothIgnoring(t *testing.T) {
	t.Parallel()
	const size = "object.spec.size <= 5"
	ignoring := func(expression string) string {
		return policyText("[CREATE, UPDATE]", expression, "  failurePolicy: Ignore")
	}
	plain := finder(t, ignoring(size), 0)
	for _, tt := range []struct {
		other string
		want  bool
	}{
		{ignoring(size), true},
		{ignoring("!(object.spec.size > 5)"), false},
		{strings.Replace(ignoring(size), "validations: [", "validations: [{expression: object.spec.size < 9}, ", 1), false},
	} {
		got, err := plain.DeniedByBoth(plain.Validations()[0], finder(t, tt.other, 0))
		if err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v", tt.other, got, err)
		}
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	f := finder(t, strings.ReplaceAll(policyText(`[CREATE]`, "true", ""), "[things]", "[others]"), 0)
	if all := f.Validations(); len(all) != 0 {
		t.Errorf("got %v", all)
	}
	if _, err := f.Find(t.Context(), requests.Validation{Policy: "p"}, requests.Denied); err == nil {
		t.Error("no error")
	}
}

func TestFindHostile(t *testing.T) {
	t.Parallel()
	var variables []string
	for i := range 60 { // each translation would be twice as long as the one before
		variables = append(variables, fmt.Sprintf("{name: v%d, expression: 'variables.v%d + variables.v%[2]d'}", i+1, i))
	}
	doubling := "  variables: [{name: v0, expression: object.spec.size}, " + strings.Join(variables, ", ") + "]"
	for _, expression := range []string{
		"variables.v60 != 1",
		"object.spec.image.matches('(a+)+$') || true",
		"object.spec.?mode.orValue('').replace('', object.spec.?image.orValue('a')).size() >= 0",
		strings.Repeat("!", 200) + "true",
	} {
		f := finder(t, policyText(`["*"]`, expression, doubling), 60)
		if _, err := f.Find(t.Context(), f.Validations()[0], requests.Denied); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

func mutationText(operations, mutation string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: p}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: %s, resources: [things]}]}
  mutations: [%s]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p}
`, operations, mutation)
}

func TestFindMutation(t *testing.T) {
	t.Parallel()
	apply := func(expression string) string {
		return fmt.Sprintf("{patchType: ApplyConfiguration, applyConfiguration: {expression: %q}}", expression)
	}
	for _, tt := range []struct {
		operations, mutation string
		want                 requests.Want
		found                policy.Operation // "" if nothing is to be found
		message              string
	}{
		{`[CREATE]`, apply("Object{spec: Object.spec{size: 3}}"), requests.Changed, policy.OperationCreate, ""},
		{`[CREATE]`, apply("Object{spec: Object.spec{size: object.spec.size}}"), requests.Changed, "", ""},
		{`[CREATE]`, apply("object.spec.size == 4711 ? Object{spec: Object.spec{size: 3}} : Object{}"), requests.Changed, policy.OperationCreate, ""}, // a number of the policy
		{`[CREATE]`, apply("Object{spec: Object.spec{ports: []}}"), requests.Changed, "", ""},                                                         // atomic: the mutation fails
		{`[CREATE]`, apply("Object{spec: Object.spec{ports: []}}"), requests.Fails, policy.OperationCreate, "may not mutate atomic"},
		{`[CREATE]`, apply("Object{spec: Object.spec{mode: object.spec.image}}"), requests.Fails, policy.OperationCreate, "no such key: image"},
		{`[CREATE]`, apply("Object{spec: Object.spec{size: 3}}"), requests.Fails, "", ""},
		{`[CREATE]`, apply("Object{spec: Object.spec{size: 7}}"), requests.Breaks, policy.OperationCreate, "failed rule: self.size != 7"},
		{`[CREATE]`, apply("Object{spec: Object.spec{size: 8}}"), requests.Breaks, "", ""},
		{`[CREATE]`, `{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]"}}`, requests.Fails, policy.OperationCreate, "/metadata/labels"},
	} {
		f := finder(t, mutationText(tt.operations, tt.mutation), 300)
		all := f.Mutations()
		if len(all) != 1 || len(f.Validations()) != 0 {
			t.Fatalf("got %v", all)
		}
		a, err := f.Find(t.Context(), all[0], tt.want)
		switch {
		case err != nil:
			t.Fatal(err)
		case a.Request == nil:
			if tt.found != "" {
				t.Errorf("%s: %s: nothing found with %d requests", tt.want, tt.mutation, a.Tried)
			}
		case a.Request.Operation != tt.found || a.Binding != "b" || !strings.Contains(a.Message, tt.message):
			t.Errorf("%s: %s: got %+v", tt.want, tt.mutation, a)
		}
	}
	f := finder(t, mutationText(`[CREATE]`, apply("Object{}")), 0)
	if _, err := f.Find(t.Context(), requests.Validation{Policy: "p", Index: 1, IsMutation: true}, requests.Changed); err == nil {
		t.Error("no error for a mutation that does not exist")
	}
}

func TestFindQuantity(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		"quantity(object.spec.mode).compareTo(quantity('50Gi')) <= 0", "duration(object.spec.mode) <= duration('1h')",
	} {
		f := finder(t, policyText("[CREATE]", expression, ""), 0)
		answer, err := f.Find(t.Context(), f.Validations()[0], requests.Denied)
		if err != nil || answer.Request == nil {
			t.Errorf("%s: got %+v, %v", expression, answer, err)
		}
	}
}

func TestFindWork(t *testing.T) {
	t.Parallel()
	text := policyText("[CREATE]", "object.metadata.name != 'x' || lists.range(1000).all(i, i >= 0)", "")
	f := finderWith(t, crdText, text, requests.Config{Work: work.NewMeter(1_000_000)})
	answer, err := f.Find(t.Context(), f.Validations()[0], requests.Denied)
	if err != nil || answer.Request != nil || answer.Tried > 100 || answer.Reason != "the work budget of this run is used up" {
		t.Errorf("got %+v, %v", answer, err)
	}
}
