package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
)

// runs is the number of repetitions in tests that look for differences between runs.
const runs = 20

const differencesCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.differences.test}
spec:
  group: differences.test
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            maxProperties: 20
            additionalProperties:
              type: string
              maxLength: 9
              x-kubernetes-validations: [{rule: self != 'bad', message: is bad}]
`

func thing(t *testing.T, metadata string) map[string]any {
	t.Helper()
	object, err := decodeYAML([]byte(`
apiVersion: differences.test/v1
kind: Thing
metadata: ` + metadata + `
spec: {e: bad, a: bad, d: bad, b: bad, c: bad}
`))
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func goodThing(t *testing.T, metadata string) map[string]any {
	t.Helper()
	object := thing(t, metadata)
	object["spec"] = map[string]any{"a": "good"}
	return object
}

func differencesEngine(t *testing.T, cfg engine.Config) *engine.Engine {
	t.Helper()
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func validate(t *testing.T, e *engine.Engine, request engine.Request) *engine.Result {
	t.Helper()
	result, err := e.Validate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The server returns causes in the order of a Go map.
func TestOrderOfCauses(t *testing.T) {
	e := differencesEngine(t, engine.Config{})
	for range runs {
		var fields []string
		for _, c := range validate(t, e, engine.Request{Object: thing(t, "{name: a}")}).Causes {
			fields = append(fields, c.Field)
		}
		if want := []string{"spec[a]", "spec[b]", "spec[c]", "spec[d]", "spec[e]"}; !slices.Equal(fields, want) {
			t.Fatalf("causes of %q, want of %q", fields, want)
		}
	}
}

// Evaluation visits maps in order of their keys, so that it always exceeds the budget at the same rule.
func TestSortedKeys(t *testing.T) {
	e := differencesEngine(t, engine.Config{Limits: cost.Limits{PerObject: 5}})
	var first []engine.Cause
	for range runs {
		causes := validate(t, e, engine.Request{Object: thing(t, "{name: a}")}).Causes
		if first == nil {
			first = causes
		}
		if d := cmp.Diff(messages(first), messages(causes)); d != "" {
			t.Fatalf("two runs differ:\n%s", d)
		}
	}
	if last := first[len(first)-1].Field; last != "spec[c]" {
		t.Errorf("evaluation stopped at %s, want at spec[c]", last)
	}
}

func messages(causes []engine.Cause) []string {
	var out []string
	for _, c := range causes {
		out = append(out, c.Field+": "+c.Message)
	}
	return out
}

// The server includes the nanosecond of the compilation in the name of self's type, which it shows in
// errors.
func TestSelfTypeWithoutClock(t *testing.T) {
	texts := map[string]bool{}
	for range runs {
		call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{
			Type:         "object",
			Properties:   map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}},
			XValidations: apiextensionsv1.ValidationRules{{Rule: "self == 1"}},
		}}
		rules, err := call.compile()
		if err != nil {
			t.Fatal(err)
		}
		errs, _ := rules.Validate(t.Context(), field.NewPath("root"), map[string]any{"a": "x"}, nil, 1000)
		texts[errs.ToAggregate().Error()] = true
	}
	for text := range texts {
		if len(texts) > 1 || !strings.Contains(text, "selfType") || regexp.MustCompile(`selfType0*[1-9]`).MatchString(text) {
			t.Errorf("want one message with the timestamp 0, got %q", text)
		}
	}
}

// If one of two compared objects does not match the schema, the server picks a mismatch at random.
func TestSortedComparison(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{
		Type:         "object",
		Properties:   map[string]apiextensionsv1.JSONSchemaProps{"a": text, "b": text, "c": text, "d": text},
		XValidations: apiextensionsv1.ValidationRules{{Rule: "self == oldSelf"}},
	}}
	rules, err := call.compile()
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"a": "x", "b": int64(1), "c": true, "d": 1.5}
	old := map[string]any{"a": "x", "b": "x", "c": "x", "d": "x"}
	for range runs {
		errs, _ := rules.Validate(t.Context(), field.NewPath("root"), object, old, 1000)
		const want = `root: Invalid value: "object": invalid data, expected string, got int64 evaluating rule: self == oldSelf`
		if got := errs.ToAggregate().Error(); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// No CRD may have rules below metadata. The server's validator declares name and generateName there, but
// provides no values, so has(self.name) is false. The engine provides the values.
func TestRulesUnderMetadata(t *testing.T) {
	rule := apiextensionsv1.ValidationRules{{Rule: "has(self.name)"}}
	call := UnitCall{IsResourceRoot: true, Schema: apiextensionsv1.JSONSchemaProps{
		Type:       "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"metadata": {Type: "object", XValidations: rule}},
	}}
	s, err := call.structural()
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"metadata": map[string]any{"name": "a"}}
	rules, err := call.compile()
	if err != nil {
		t.Fatal(err)
	}
	if errs, _ := rules.Validate(t.Context(), nil, object, nil, 1000); len(errs) > 0 {
		t.Errorf("ours sees no name: %v", errs)
	}
	server := cel.NewValidator(s, true, 1000)
	if errs, _ := server.Validate(t.Context(), nil, s, object, nil, 1000); len(errs) != 1 {
		t.Errorf("the server sees the name; so should this difference end: %v", errs)
	}
}

// The server panics over these rules.
func TestKeysThatPanic(t *testing.T) {
	for _, rule := range []string{"{b'a': 1}.size() > 0", "[?dyn(self.a)].size() == 0", "{?'a': dyn(self.a)}.size() == 0"} {
		call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": {Type: "string"}},
			XValidations: apiextensionsv1.ValidationRules{{Rule: rule}},
		}}
		s, err := call.structural()
		if err != nil {
			t.Fatal(err)
		}
		var rejected *engine.CompileErrors
		if _, err := engine.CompileRules(s, engine.Config{Subtree: true}); !errors.As(err, &rejected) {
			t.Errorf("%s: got %v, want a rule that does not compile", rule, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the server's rule does not panic; so should this difference end", rule)
				}
			}()
			cel.NewValidator(s, false, 1000)
		}()
	}
}

// TestUnboundedCalls checks that the engine returns an internal error for a rule for which the
// server builds a string of 120 MB, and could build one of 10 GB.
func TestUnboundedCalls(t *testing.T) {
	call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{
		Type: "string", XValidations: apiextensionsv1.ValidationRules{{Rule: "self.replace('', self).size() > 0"}},
	}}
	s, err := call.structural()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := call.compile()
	if err != nil {
		t.Fatal(err)
	}
	const budget = 1_000_000
	text := strings.Repeat("x", 11_000)
	if errs, remaining := rules.Validate(t.Context(), nil, text, nil, budget); len(errs) != 1 || errs[0].Type != field.ErrorTypeInternal || remaining >= 0 {
		t.Errorf("ours decides: %v", errs)
	}
	server := cel.NewValidator(s, false, budget)
	if errs, remaining := server.Validate(t.Context(), nil, s, text, nil, budget); len(errs) > 0 || remaining < 0 {
		t.Errorf("the server does not; so should this difference end: %v", errs)
	}
}

// The compilation of these rules takes the server seconds or hundreds of megabytes.
func TestUnboundedRules(t *testing.T) {
	for _, rule := range []string{
		strings.Repeat("self == 'a' || ", 1700) + "true",
		"self == 'a' || self.matches('" + strings.Repeat("a{1000}", 60) + "')",
	} {
		call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{Type: "string", XValidations: apiextensionsv1.ValidationRules{{Rule: rule}}}}
		s, err := call.structural()
		if err != nil {
			t.Fatal(err)
		}
		rules, err := call.compile()
		if err != nil {
			t.Fatal(err)
		}
		const budget = 1_000_000
		if errs, remaining := rules.Validate(t.Context(), nil, "b", nil, budget); len(errs) != 1 || errs[0].Type != field.ErrorTypeInternal || remaining >= 0 {
			t.Errorf("%.60s: ours decides: %v", rule, errs)
		}
		server := cel.NewValidator(s, false, budget)
		if errs, _ := server.Validate(t.Context(), nil, s, "b", nil, budget); len(errs) > 0 && errs[0].Type == field.ErrorTypeInternal {
			t.Errorf("%.60s: the server does not decide; so should this difference end: %v", rule, errs)
		}
	}
}

func TestManyErrors(t *testing.T) {
	call := UnitCall{Schema: apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "string", XValidations: apiextensionsv1.ValidationRules{{Rule: "self == 'a'"}},
	}}}}
	s, err := call.structural()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := call.compile()
	if err != nil {
		t.Fatal(err)
	}
	items := make([]any, 11_000)
	for i := range items {
		items[i] = "b"
	}
	const budget = 1_000_000
	errs, remaining := rules.Validate(t.Context(), nil, items, nil, budget)
	all, left := cel.NewValidator(s, false, budget).Validate(t.Context(), nil, s, items, nil, budget)
	if len(errs) != 10_000 || len(all) != len(items) || remaining != left {
		t.Errorf("Celadon reports %d errors, the server %d; remaining budgets %d and %d", len(errs), len(all), remaining, left)
	}
}

func TestServerMetadata(t *testing.T) {
	result := validate(t, differencesEngine(t, engine.Config{}), engine.Request{Object: goodThing(t, "{generateName: a-}")})
	metadata := metadataOf(result.Object)
	for _, key := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink"} {
		if value, ok := metadata[key]; ok && value != nil {
			t.Errorf("metadata.%s is %v, want none", key, value)
		}
	}
	if name := metadata["name"]; name != "a-00000" {
		t.Errorf("generated name %q, want a-00000", name)
	}
	for _, version := range []string{"", "resourceVersion: '7'"} {
		old, object := goodThing(t, "{name: a, "+version+"}"), goodThing(t, "{name: a, resourceVersion: '9', selfLink: /a, managedFields: []}")
		result := validate(t, differencesEngine(t, engine.Config{}), engine.Request{Object: object, OldObject: old})
		metadata := metadataOf(result.Object)
		for _, key := range []string{"uid", "creationTimestamp", "managedFields", "selfLink"} {
			if value, ok := metadata[key]; ok && value != nil {
				t.Errorf("updated: metadata.%s is %v, want none", key, value)
			}
		}
		if got, want := metadata["resourceVersion"], metadataOf(old)["resourceVersion"]; got != want {
			t.Errorf("updated: resourceVersion %v, want that of the old object, %v", got, want)
		}
	}
}

// The engine treats an update like the one that apply would make: it neither requires fields that apply
// fills in, nor reports conflicts.
func TestApplyNotPut(t *testing.T) {
	s := startServer(t)
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.put(t.Context(), "default", "a", goodThing(t, "{name: a, namespace: default}")); err != nil {
		t.Fatal(err)
	}
	old, err := r.get(t.Context(), "v1", "default", "a")
	if err != nil {
		t.Fatal(err)
	}
	e := differencesEngine(t, engine.Config{})
	for _, c := range []struct {
		name, metadata string
		code           int
	}{
		{"no resourceVersion", "{name: a, namespace: default}", http.StatusUnprocessableEntity},
		{"another uid", "{name: a, namespace: default, uid: other, resourceVersion: '1'}", http.StatusConflict},
	} {
		object := goodThing(t, c.metadata)
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.do(t.Context(), call{method: http.MethodPut, version: "v1", namespace: "default", name: "a", body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got.code != c.code {
			t.Errorf("%s: the server answers %d, want %d: %s", c.name, got.code, c.code, got.body)
		}
		if result := validate(t, e, engine.Request{Object: object, OldObject: old}); !result.Allowed {
			t.Errorf("%s: refused: %s", c.name, result.Failure.Message)
		}
	}
}
