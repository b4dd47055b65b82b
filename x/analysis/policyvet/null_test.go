package policyvet_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

// TestNullAgainstEvaluation compares the lint with the evaluation of a request to delete an object. An
// expression that fails must be reported, and one that is reported must fail for one of the objects.
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
		"object == oldObject", "object['spec'] == 1", "'spec' in object", "[object, oldObject].exists(o, o != null)", "[object].all(o, o.spec.size > 1)", "variables.x", "variables.isDelete",
		"size(object) == 1", "object.spec.tags.all(t, t == 'a')", "oldObject.spec.tags.all(t, object.spec.name == t)", "type(object) == null_type", "object in [null]", "dyn(object) == null",
	}
	for _, a := range parts {
		for _, b := range parts {
			for _, x := range []string{a + " || " + b, a + " && " + b, "!(" + a + ") || " + b, a + " ? " + b + " : true", "(" + a + ") == (" + b + ")"} {
				const variables = "variables: [{name: x, expression: object.spec.size > 1}, {name: isDelete, expression: \"request.operation == 'DELETE'\"}]\n"
				text := policyOf("DELETE example.com widgets", variables+expressions(x))
				reported := false
				for _, lint := range found(vet(t, text)) {
					reported = reported || strings.HasPrefix(lint, "null-object")
				}
				set, err := policy.Compile(documents(t, text), policy.Config{})
				if err != nil {
					t.Fatal(err)
				}
				failed := false
				for _, old := range objects {
					res, err := set.Evaluate(context.Background(), policy.Request{
						Operation: policy.OperationDelete, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
						Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "a", Namespace: "n", OldObject: old,
						NamespaceObject: map[string]any{"metadata": map[string]any{"name": "n"}},
					})
					if err != nil {
						t.Fatal(err)
					}
					for _, d := range res.Evaluations[0].Decisions {
						failed = failed || d.Failed
					}
				}
				if failed && !reported {
					t.Errorf("%s fails, but is not reported", x)
				}
				if reported && !failed {
					t.Logf("%s is reported, but does not fail for the objects", x)
				}
			}
		}
	}
}
