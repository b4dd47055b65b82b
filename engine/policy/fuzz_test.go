package policy

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// FuzzEvaluate compiles any document as a policy, binding, or params object, and evaluates a request
// for any object. Neither must panic, have an internal error, or take long.
func FuzzEvaluate(f *testing.F) {
	object := `{metadata: {name: w, labels: {a: b}}, spec: {size: 7, list: [1, a, null, {b: 1.5}]}}`
	for _, policy := range []string{
		testPolicy, simplePolicy("dyn(variables).a == 1", "  variables: [{name: a, expression: dyn(variables).a}]"),
		simplePolicy("object.spec.list.map(a, [a, a]).map(b, [b, b]).size() > 0", ""), simplePolicy("object == oldObject || {object: 1}.size() > 0", ""),
		simplePolicy("variables == variables && variables.all(v, v == 1)", "  variables: [{name: a, expression: '1'}]"), testWebhooks, testNamespace, "{apiVersion: 1}", "{}",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{verbs: [a]}], aggregationRule: {clusterRoleSelectors: [null, {}]}}`,
	} {
		f.Add([]byte(policy), []byte(object))
	}
	f.Fuzz(func(t *testing.T, policy, object []byte) {
		began := time.Now()
		docs := documents(t, testBinding, testNamespace)
		var objects [2]map[string]any
		for i, text := range [][]byte{policy, object} {
			data, err := yaml.YAMLToJSON(text)
			if err != nil {
				return
			}
			if objects[i], err = engine.Decode(data); err != nil {
				return
			}
		}
		set, err := Compile(append(docs, objects[0]), Config{})
		var invalid *CompileErrors
		if err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		for _, op := range []Operation{OperationCreate, OperationUpdate, OperationDelete, OperationConnect} {
			req := widgetRequest(t, op, `{}`)
			req.Object, req.OldObject = objects[1], objects[1]
			if _, err := set.Evaluate(context.Background(), req); err != nil {
				t.Fatal(err)
			}
			if _, err := set.MatchWebhooks(context.Background(), req); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > time.Minute {
			t.Fatalf("took %v", took)
		}
	})
}
