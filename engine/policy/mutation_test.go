package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// mutatingPolicy returns a policy with mutations. After a line break, a mutation can have further fields of spec.
func mutatingPolicy(name string, mutations ...string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %s}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{operations: ["*"], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  mutations:
  - %s
`, name, strings.Join(mutations, "\n  - "))
}

func mutatingBinding(policy string) string {
	return fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s}}`, policy, policy)
}

func apply(expression string) string {
	return fmt.Sprintf("{patchType: ApplyConfiguration, applyConfiguration: {expression: %q}}", expression)
}

func jsonPatch(expression string) string {
	return fmt.Sprintf("{patchType: JSONPatch, jsonPatch: {expression: %q}}", expression)
}

func widgetSchema(t testing.TB) *MergeSchema {
	t.Helper()
	var v1 apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(`
type: object
properties:
  spec:
    type: object
    properties:
      size: {type: integer}
      name: {type: string}
      tags: {type: array, items: {type: string}}
      names: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port], items: {type: object, properties: {port: {type: integer}, name: {type: string}}}}
      selector: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
`), &v1); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structural.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	return NewMergeSchema(s)
}

func mutableRequest(t testing.TB, spec string) Request {
	t.Helper()
	req := widgetRequest(t, OperationCreate, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns}, spec: `+spec+`}`)
	req.Schema = widgetSchema(t)
	return req
}

func mutate(t testing.TB, set *Set, req Request) *MutationResult {
	t.Helper()
	res, err := set.Mutate(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestMutate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, mutation, spec string
		want                 string // the spec, or the end of the failure
	}{
		{"a field", apply("Object{spec: Object.spec{size: object.spec.size + 1}}"), "{size: 1, name: a}", "{size: 2, name: a}"},
		{"nothing", apply("Object{}"), "{size: 1}", "{size: 1}"},
		{"a list by key", apply("Object{spec: Object.spec{ports: [Object.spec.ports{port: 1, name: 'b'}, Object.spec.ports{port: 3}]}}"), "{ports: [{port: 1, name: a}, {port: 2}]}", "{ports: [{port: 1, name: b}, {port: 2}, {port: 3}]}"},
		{"a set", apply("Object{spec: Object.spec{names: ['b', 'a']}}"), "{names: [a]}", "{names: [b, a]}"},
		{"a free map", apply("Object{spec: Object.spec{free: {'a': {'b': 1}}}}"), "{free: {a: {c: 2}}}", "expected map, got "},
		{"a free object", apply("Object{spec: Object.spec{free: Object.spec.free{a: Object.spec.free.a{b: 1}}}}"), "{free: {a: {c: 2}}}", "{free: {a: {b: 1, c: 2}}}"},
		{"an atomic list", apply("Object{spec: Object.spec{tags: ['a']}}"), "{}", "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tags"},
		{"an atomic map", apply("Object{spec: Object.spec{selector: {'a': 'b'}}}"), "{}", "may not mutate atomic arrays, maps or structs: .spec.selector"},
		{"duplicate items that stay", apply("Object{spec: Object.spec{size: 1}}"), "{names: [a, a]}", "{names: [a, a], size: 1}"},
		{"duplicate items that change", apply("Object{spec: Object.spec{ports: [Object.spec.ports{port: 1, name: 'c'}]}}"), "{ports: [{port: 1, name: a}, {port: 1, name: b}]}", "{ports: [{port: 1, name: c}]}"},
		{"an unknown field", apply("Object{spec: Object.spec{unknown: 1}}"), "{}", "error applying patch: failed to convert patch object to typed object: .spec.unknown: field not declared in schema"},
		{"a wrong type", apply("Object{spec: Object.spec{size: 'a'}}"), "{}", "error applying patch: failed to convert patch object to typed object: .spec.size: expected numeric (int or float), got string"},
		{"a wrong type name", apply("Object{spec: Object.status{size: 1}}"), "{}", `type mismatch: unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type`},
		{"a runtime error", apply("Object{spec: Object.spec{size: object.spec.missing}}"), "{}", "expression 'Object{spec: Object.spec{size: object.spec.missing}}' resulted in error: no such key: missing"},
		{"a compile error", apply("Object{spec: x}"), "{}", "compilation failed: ERROR: <input>:1:14: undeclared reference to 'x' (in container '')\n | Object{spec: x}\n | .............^"},
		{"add", jsonPatch("[JSONPatch{op: 'add', path: '/spec/' + jsonpatch.escapeKey('a/b~'), value: {'x': [1.0, 2.5]}}]"), "{}", "{'a/b~': {x: [1, 2.5]}}"},
		{"integers", jsonPatch("[JSONPatch{op: 'add', path: '/spec/a', value: 9007199254740993}]"), "{b: 1.0}", "{a: '9007199254740993', b: 1}"},
		{"move and test", jsonPatch("[JSONPatch{op: 'test', path: '/spec/a', value: 1}, JSONPatch{op: 'move', from: '/spec/a', path: '/spec/b'}]"), "{a: 1}", "{b: 1}"},
		{"a failed test", jsonPatch("[JSONPatch{op: 'remove', path: '/spec/a'}, JSONPatch{op: 'test', path: '/spec/b', value: 1}]"), "{a: 1, b: 2}", "{a: 1, b: 2}"},
		{"a missing path", jsonPatch("[JSONPatch{op: 'add', path: '/spec/a/b', value: 1}]"), "{}", `JSON Patch: add operation does not apply: doc is missing path: "/spec/a/b": missing value`},
	} {
		set := mustCompileMutating(t, mutatingPolicy("p", tt.mutation))
		req := mutableRequest(t, tt.spec)
		before := cmp.Diff(req.Object, nil)
		res := mutate(t, set, req)
		if after := cmp.Diff(req.Object, nil); after != before {
			t.Errorf("%s: the request is modified", tt.name)
		}
		if !strings.HasPrefix(tt.want, "{") {
			if res.Allowed || res.Object != nil || res.Failure.Code != 403 || res.Failure.Reason != "Invalid" || !strings.HasPrefix(res.Failure.Message, "policy 'p' with binding 'p' denied request: ") ||
				!strings.Contains(res.Failure.Message, tt.want) || res.Evaluations[0].Mutations[0].Failure == "" {
				t.Errorf("%s: got %+v, %v", tt.name, res, res.Failure)
			}
			continue
		}
		want := documents(t, tt.want)[0]
		if diff := cmp.Diff(want, res.Object["spec"]); diff != "" || !res.Allowed {
			t.Errorf("%s: got %+v %v: %s", tt.name, res, res.Failure, diff)
		}
		changed := cmp.Diff(req.Object, res.Object) != ""
		if res.Changed != changed || res.Evaluations[0].Changed != changed || res.Evaluations[0].Mutations[0].Changed != changed {
			t.Errorf("%s: changed: %v, got %+v", tt.name, changed, res)
		}
	}
}

// mustCompileMutating compiles a policy p with a binding. Its expressions may be invalid.
func mustCompileMutating(t testing.TB, texts ...string) *Set {
	t.Helper()
	set, err := Compile(documents(t, append(texts, mutatingBinding("p"))...), Config{})
	var invalid *CompileErrors
	if errors.As(err, &invalid) && !invalid.Errors[0].Dropped {
		return set
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestMutateOrder(t *testing.T) {
	t.Parallel()
	note := func(letter string) string {
		return jsonPatch(fmt.Sprintf("[JSONPatch{op: 'add', path: '/spec/log', value: object.spec.log + '%s'}]", letter))
	}
	ifNeeded := func(policy string) string { return strings.Replace(policy, "Never", "IfNeeded", 1) }
	ignore := func(policy string) string {
		return strings.Replace(policy, "Never", "Never\n  failurePolicy: Ignore", 1)
	}
	fails := jsonPatch("[JSONPatch{op: 'remove', path: '/spec/missing'}]")
	for _, tt := range []struct {
		name     string
		policies []string
		want     string
	}{
		{"by name", []string{mutatingPolicy("b", note("b")), mutatingPolicy("a", note("a"), note("A"))}, "aAb"},
		{"reinvocation", []string{ifNeeded(mutatingPolicy("a", note("a"))), mutatingPolicy("b", note("b"))}, "aba"},
		{"reinvocation without a change", []string{ifNeeded(mutatingPolicy("a", note("a")))}, "aa"},
		{"no mutation succeeds", []string{ifNeeded(ignore(mutatingPolicy("a", fails)))}, ""},
		{"later mutations run after a failure", []string{ignore(mutatingPolicy("a", fails, note("a")))}, "a"},
		{"excluded when reinvoked", []string{ifNeeded(mutatingPolicy("a", note("a")+"\n  matchConditions: [{name: c, expression: object.spec.log == ''}]")), mutatingPolicy("b", note("b"))}, "ab"},
	} {
		texts := tt.policies
		for _, name := range []string{"a", "b"} {
			if strings.Contains(strings.Join(tt.policies, ""), "{name: "+name+"}") {
				texts = append(texts, mutatingBinding(name))
			}
		}
		res := mutate(t, mustCompile(t, Config{}, texts...), mutableRequest(t, "{log: ''}"))
		if got := res.Object["spec"].(map[string]any)["log"]; got != tt.want {
			t.Errorf("%s: got %v, want %s: %+v %v", tt.name, got, tt.want, res, res.Failure)
		}
	}
}

func TestMutateDefaults(t *testing.T) {
	t.Parallel()
	set := mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'remove', path: '/spec/size'}]"), jsonPatch("[JSONPatch{op: 'add', path: '/spec/next', value: object.spec.size + 1}]")))
	req := mutableRequest(t, "{size: 1}")
	req.Default = func(object map[string]any) {
		if spec, ok := object["spec"].(map[string]any); ok && spec["size"] == nil {
			spec["size"] = int64(7)
		}
	}
	res := mutate(t, set, req)
	if diff := cmp.Diff(map[string]any{"size": int64(7), "next": int64(8)}, res.Object["spec"]); diff != "" {
		t.Error(diff)
	}
}

func TestMutateVersions(t *testing.T) {
	t.Parallel()
	policy := strings.Replace(mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/spec/version', value: object.apiVersion}]")), "apiVersions: [v1]", "apiVersions: [v2]", 1)
	req := mutableRequest(t, "{}")
	v2 := schema.GroupVersion{Group: "example.com", Version: "v2"}
	rename := func(from, to string) func(map[string]any) (map[string]any, error) {
		return func(o map[string]any) (map[string]any, error) {
			o = maps.Clone(o)
			o["apiVersion"], o[to] = "example.com/"+map[string]string{"spec": "v1", "body": "v2"}[to], o[from]
			delete(o, from)
			return o, nil
		}
	}
	req.Equivalents = []Equivalent{{Resource: v2.WithResource("widgets"), Kind: v2.WithKind("Widget"), Convert: rename("spec", "body"), Revert: rename("body", "spec")}}
	set := mustCompileMutating(t, strings.Replace(policy, "/spec/version", "/body/version", 1))
	res := mutate(t, set, req)
	if res.Object["apiVersion"] != "example.com/v1" || res.Object["spec"].(map[string]any)["version"] != "example.com/v2" {
		t.Errorf("got %+v, %v", res.Object, res.Failure)
	}
}

func TestMutateFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, policy string
		code         int32
		message      string
	}{
		{"no kind", mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'remove', path: '/kind'}, JSONPatch{op: 'remove', path: '/metadata'}, JSONPatch{op: 'remove', path: '/spec'}]")), 500, `Internal error occurred: Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}'`},
		{"a wrong kind", mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/kind', value: 1}]")), 500, "Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"},
		{"another group", mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/apiVersion', value: 'a/v1'}]")), 500, `Internal error occurred: failed to convert object: a/v1, Kind=Widget is unstructured and is not suitable for converting to "example.com/v1"`},
		{"another version", mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'add', path: '/apiVersion', value: 'example.com/v3'}]")), 500, "Internal error occurred: failed to convert object: request to convert CR from an invalid group/version: example.com/v3"},
		{"conditions", mutatingPolicy("p", apply("Object{}")+"\n  matchConditions: [{name: c, expression: object.missing == 1}]"), 403, "policy 'p' with binding 'p' denied request: expression 'object.missing == 1' resulted in error: no such key: missing"},
		{"params", mutatingPolicy("p", apply("Object{}")+"\n  paramKind: {apiVersion: v1, kind: ConfigMap}"), 403, "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
	} {
		texts := []string{tt.policy, strings.Replace(mutatingBinding("p"), "spec: {", "spec: {paramRef: {name: x, parameterNotFoundAction: Deny}, ", 1)}
		set, err := Compile(documents(t, texts...), Config{Complete: true})
		var invalid *CompileErrors
		if err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		res := mutate(t, set, mutableRequest(t, "{}"))
		if res.Allowed || res.Failure.Code != tt.code || res.Failure.Message != tt.message {
			t.Errorf("%s: got %+v, %v", tt.name, res, res.Failure)
		}
		ignoring := strings.Replace(tt.policy, "Never", "Never\n  failurePolicy: Ignore", 1)
		set, err = Compile(documents(t, ignoring, texts[1]), Config{Complete: true})
		if err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		if res := mutate(t, set, mutableRequest(t, "{}")); res.Allowed == (tt.code == 500) {
			t.Errorf("%s, ignored: got %+v, %v", tt.name, res, res.Failure)
		}
	}
}

func TestMutateUndecided(t *testing.T) {
	t.Parallel()
	twice := strings.Repeat(".map(x, [x, x])", 40)
	for _, tt := range []struct{ name, mutation, want string }{
		{"no schema", apply("Object{}"), "ApplyConfiguration needs the schema of example.com/v1, Kind=Widget: set Request.Schema"},
		{"namespace", apply("Object{spec: Object.spec{name: namespaceObject.metadata.labels.a}}"), "needs the Namespace ns"},
		{"a large patch", jsonPatch("[JSONPatch{op: 'add', path: '/spec/a', value: [1]" + twice + "}]"), ""},
		{"null in a list", jsonPatch("[JSONPatch{op: 'add', path: '/spec/l', value: [null]}, JSONPatch{op: 'test', path: '/spec/l', value: [null]}]"), "an API server crashes on the patch"},
		{"no value", jsonPatch("[JSONPatch{op: 'replace', path: ''}]"), "an API server crashes on the patch"},
	} {
		req := mutableRequest(t, "{}")
		if tt.name == "no schema" {
			req.Schema = nil
		}
		res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", tt.mutation)), req)
		if len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, tt.want) || res.Object != nil {
			t.Errorf("%s: got %+v %v", tt.name, res, res.Failure)
		}
	}
}

// TestMutateWithoutEffect checks that a policy that changes nothing is visible, also if failurePolicy hides why.
func TestMutateWithoutEffect(t *testing.T) {
	t.Parallel()
	ignored := strings.Replace(mutatingPolicy("p", apply("Object{spec: Object.spec{tags: ['a']}}")), "Never", "Never\n  failurePolicy: Ignore", 1)
	res := mutate(t, mustCompileMutating(t, ignored), mutableRequest(t, "{tags: [b]}"))
	if e := res.Evaluations[0]; !res.Allowed || res.Changed || e.Changed || !e.Ignored || !strings.Contains(e.Mutations[0].Failure, "may not mutate atomic arrays") {
		t.Errorf("an atomic list: got %+v", res)
	}
	res = mutate(t, mustCompileMutating(t, mutatingPolicy("p", jsonPatch("[JSONPatch{op: 'test', path: '/spec/a', value: 2}, JSONPatch{op: 'remove', path: '/spec/a'}]"))), mutableRequest(t, "{a: 1}"))
	if e := res.Evaluations[0]; !res.Allowed || res.Changed || e.Changed || !e.Mutations[0].TestFailed || e.Mutations[0].Failure != "" {
		t.Errorf("a failed test: got %+v", res)
	}
}

func TestMutateDeniedAndUndecided(t *testing.T) {
	t.Parallel()
	req := mutableRequest(t, "{}")
	req.Schema = nil
	fails, undecided := jsonPatch("[JSONPatch{op: 'remove', path: '/x'}]"), apply("Object{}")
	res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", fails, undecided)), req)
	if res.Allowed || res.Failure == nil || len(res.Undecided) != 1 {
		t.Errorf("got %+v", res)
	}
	res = mutate(t, mustCompileMutating(t, mutatingPolicy("p", undecided, fails)), req)
	if !res.Allowed || res.Failure != nil || len(res.Undecided) != 1 {
		t.Errorf("got %+v", res)
	}
}

func TestMutateKubeVersions(t *testing.T) {
	t.Parallel()
	text := mutatingPolicy("p", apply("Object{spec: Object.spec{size: 1}}"))
	for _, tt := range []struct {
		kube, api, want string
	}{
		{"1.31", "v1alpha1", "v1alpha1 MutatingAdmissionPolicy exists since Kubernetes 1.32, not in 1.31: remove it, or use a newer Kubernetes version"},
		{"1.33", "v1", "v1 MutatingAdmissionPolicy exists since Kubernetes 1.36, not in 1.33: use v1alpha1"},
		{"1.34", "v1beta1", "error"},
		{"1.35", "v1beta1", ""},
		{"1.36", "v1", ""},
	} {
		docs := documents(t, text, mutatingBinding("p"))
		for _, doc := range docs {
			doc["apiVersion"] = registration + "/" + tt.api
		}
		set, err := Compile(docs, Config{KubeVersion: tt.kube})
		var invalid *CompileErrors
		if errors.As(err, &invalid) {
			if invalid.Errors[0].Detail != tt.want {
				t.Errorf("%s in %s: got %v", tt.api, tt.kube, err)
			}
			continue
		}
		res := mutate(t, set, mutableRequest(t, "{names: [a, a]}"))
		if res.Allowed == (tt.want == "error") {
			t.Errorf("%s in %s: got %+v, %v", tt.api, tt.kube, res, res.Failure)
		}
	}
}

func TestMutateConcurrently(t *testing.T) {
	t.Parallel()
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{size: object.spec.size + 1}}"), jsonPatch("[JSONPatch{op: 'add', path: '/spec/log', value: object.spec.size}]")))
	var group sync.WaitGroup
	for i := range 4 {
		req := mutableRequest(t, fmt.Sprintf("{size: %d}", i))
		group.Go(func() {
			for range 50 {
				res, err := set.Mutate(context.Background(), req)
				if err != nil || res.Object["spec"].(map[string]any)["log"] != int64(i+1) {
					t.Errorf("%d: got %+v, %v", i, res, err)
				}
			}
		})
	}
	group.Wait()
}

func TestPoliciesOfBothKinds(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, testPolicy, testBinding, mutatingPolicy("p", apply("Object{}")), mutatingBinding("p"))
	want := []Info{{Name: "p", Kind: "MutatingAdmissionPolicy", Bindings: []string{"p"}}, {Name: "p", Kind: "ValidatingAdmissionPolicy", Bindings: []string{"b"}}}
	if diff := cmp.Diff(want, set.Policies()); diff != "" {
		t.Error(diff)
	}
}

// TestObjectFields checks selections from object literals. The wanted results come from the API server's code.
func TestObjectFields(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		"Object{name: 'x'}.name":                                           "x",
		"has(Object{name: 'x'}.name) ? 'y' : 'n'":                          "y",
		"has(Object{name: 'x'}.other) ? 'y' : 'n'":                         "n",
		"Object{name: 'x'}.?name.orValue('n')":                             "n",
		"Object{name: 'x'}.?other.orValue('n')":                            "n",
		"Object{name: 'x'}.other == null ? 'null' : 'n'":                   "null",
		"Object.metadata{name: 'x'}.name":                                  "x",
		"Object{metadata: Object.metadata{name: 'x'}}.metadata.name":       "x",
		"has(Object{metadata: Object.metadata{}}.metadata.name)?'y':'n'":   "n",
		"[Object{a: 'x'}, Object{a: 'y'}].map(o, o.a)[1]":                  "y",
		"[Object{a: 'x'}].filter(o, has(o.a))[0].a":                        "x",
		"[Object{a: ['x', 'z']}][0].a[1]":                                  "z",
		"(true ? Object{a: 'x'} : Object{b: 'y'}).a":                       "x",
		"Object{spec: object.spec}.spec.free.text":                         "t",
		"Object{a: duration('1h')}.a == duration('1h') ? 'y' : 'n'":        "y",
		"type(Object{a: Object.a{b: 1}}.a) == type({}) ? 'map' : 'object'": "map",
	} {
		res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{name: "+source+"}}"))), mutableRequest(t, "{free: {text: t}}"))
		if res.Failure != nil || len(res.Undecided) > 0 {
			t.Errorf("%s: got %v, %v", source, res.Failure, res.Undecided)
			continue
		}
		if got := res.Object["spec"].(map[string]any)["name"]; got != want {
			t.Errorf("%s: got %v, want %v", source, got, want)
		}
	}
}
