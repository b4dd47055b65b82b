package policyvet_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

// TestNullAgainstEvaluation compares the lint with the evaluation of a request to delete an object. Each expression
// that fails must be reported, and few others.
func TestNullAgainstEvaluation(t *testing.T) {
	t.Parallel()
	var objects []map[string]any
	objects = append(objects, documents(t, strings.Join([]string{
		"{metadata: {name: a}, spec: {name: a, size: 1, tags: [a, b]}}",
		"{metadata: {name: b, labels: {a: b}}, spec: {name: b, size: 7, tags: []}}",
	}, "\n---\n"))...)
	parts := []string{
		"object.spec.size > 1", "object == null", "object != null", "has(object.spec)", "has(object.spec.size)", "oldObject.spec.size > 1", "oldObject == null",
		"request.operation == 'DELETE'", "request.operation != 'DELETE'", "request.operation in ['CREATE', 'DELETE']", "object.?spec.size.orValue(1) == 1", "object.?spec.hasValue()",
		"object == oldObject", "object['spec'] == 1", "'spec' in object", "[object, oldObject].exists(o, o != null)", "[object].all(o, o.spec.size > 1)", "[object, oldObject].exists(o, o != null && o.spec.size > 1)", "variables.x", "variables.isDelete",
		"size(object) == 1", "object.spec.tags.all(t, t == 'a')", "oldObject.spec.tags.all(t, object.spec.name == t)", "type(object) == null_type", "object in [null]", "dyn(object) == null",
	}
	var all strings.Builder
	var checked []string
	for i, a := range parts {
		for j, b := range parts {
			if testing.Short() && (i+2*j)%4 > 0 {
				continue
			}
			operators := []string{a + " || " + b, a + " && " + b, "!(" + a + ") || " + b, a + " ? " + b + " : true", "(" + a + ") == (" + b + ")"}
			const variables = "variables: [{name: x, expression: object.spec.size > 1}, {name: isDelete, expression: \"request.operation == 'DELETE'\"}]\n"
			x := operators[(i+j)%len(operators)]
			text := policyOf("DELETE example.com widgets", variables+expressions(x))
			all.WriteString("---\n" + strings.NewReplacer("name: p}", fmt.Sprintf("name: p%d}", len(checked)), "name: b}", fmt.Sprintf("name: b%d}", len(checked)), "policyName: p", fmt.Sprintf("policyName: p%d", len(checked))).Replace(text))
			checked = append(checked, x)
		}
	}
	docs := documents(t, all.String())
	reported := map[string]bool{}
	for _, r := range vet(t, all.String()) {
		for _, l := range r.Lints {
			reported[r.Name] = reported[r.Name] || l.Name == "null-object"
		}
	}
	set, err := policy.Compile(docs, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string]bool{}
	for _, old := range objects {
		res, err := set.Evaluate(context.Background(), policy.Request{
			Operation: policy.OperationDelete, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
			Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "a", Namespace: "n", OldObject: old,
			NamespaceObject: map[string]any{"metadata": map[string]any{"name": "n"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range res.Evaluations {
			for _, d := range e.Decisions {
				failed[e.Policy] = failed[e.Policy] || d.Failed
			}
		}
	}
	extra := 0
	for i, x := range checked {
		name := fmt.Sprintf("p%d", i)
		if failed[name] && !reported[name] {
			t.Errorf("%s fails, but is not reported", x)
		}
		if reported[name] && !failed[name] {
			extra++
		}
	}
	if len(failed) < 100 || extra > 30 {
		t.Errorf("%d of %d fail, and %d are reported that do not fail for these objects", len(failed), len(checked), extra)
	}
}
