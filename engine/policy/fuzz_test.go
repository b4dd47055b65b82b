package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// fuzzCPU limits the processor time of a fuzz step, which needs at most a few seconds.
const fuzzCPU = time.Minute

func FuzzEvaluate(f *testing.F) {
	object := `{metadata: {name: w, labels: {a: b}}, spec: {size: 7, list: [1, a, null, {b: 1.5}]}}`
	for _, policy := range []string{
		testPolicy, simplePolicy("dyn(variables).a == 1", "  variables: [{name: a, expression: dyn(variables).a}]"),
		simplePolicy("object.spec.list.map(a, [a, a]).map(b, [b, b]).size() > 0", ""), simplePolicy("object == oldObject || {object: 1}.size() > 0", ""),
		simplePolicy("variables.c > 0", "  variables: [{name: a, expression: object.spec.size}, {name: b, expression: variables.a + 1}, {name: c, expression: variables.b + variables.a}]"),
		simplePolicy("variables == variables && variables.all(v, v == 1)", "  variables: [{name: a, expression: '1'}]"), testWebhooks, testNamespace, "{apiVersion: 1}", "{}",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{verbs: [a]}], aggregationRule: {clusterRoleSelectors: [null, {}]}}`,
	} {
		f.Add([]byte(policy), []byte(object))
	}
	f.Fuzz(func(t *testing.T, policy, object []byte) {
		begun := cputime.Process()
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
			if _, err := set.MatchWebhooks(context.Background(), req, ValidatingWebhooks); err != nil {
				t.Fatal(err)
			}
		}
		if used := cputime.Process() - begun; used > fuzzCPU {
			t.Fatalf("%s of processor time", used)
		}
	})
}

func FuzzMutate(f *testing.F) {
	object := `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, labels: {a: b}}, spec: {size: 7, names: [a, a], ports: [{port: 1}], free: [1, null, {b: 1.5}]}}`
	for _, mutation := range []string{
		apply("Object{spec: Object.spec{size: object.spec.size + 1, ports: [Object.spec.ports{port: 1, name: 'a'}]}}"), apply("Object{spec: Object.spec{free: object.spec}}"),
		apply("Object{?spec: optional.none(), metadata: Object.metadata{labels: {'a': 'c'}}}"), jsonPatch("[JSONPatch{op: 'add', path: '/spec/free/-', value: object}, JSONPatch{op: 'copy', from: '/spec', path: '/spec/x'}]"),
		jsonPatch("[JSONPatch{op: 'test', path: '', value: object}, JSONPatch{op: 'move', from: '/spec/size', path: '/' + jsonpatch.escapeKey('a/~')}]"),
		jsonPatch("object.spec.names.map(n, JSONPatch{op: n, path: n, from: n, value: Object.a{b: n}})"), apply("type(Object{}) == Object ? Object{} : Object{a: JSONPatch{}}"),
		jsonPatch("[JSONPatch{op: 'copy', from: '/spec/free', path: '/spec/free/2/c'}, JSONPatch{op: 'copy', from: '/spec/free', path: '/spec/free/2/c/2/c'}, JSONPatch{op: 'move', from: '/spec/free', path: '/x'}]"),
		apply("Object{spec: Object.spec{name: Object.spec{free: [Object.a{b: 'c'}]}.free[0].b, free: has(Object{a: object}.a) ? Object{a: object}.a.spec : 1}}"),
		jsonPatch("[[1].map(x, [x, x]).map(x, [x, x])].map(x, JSONPatch{op: 'replace', path: '', value: {'a': x}})"),
	} {
		f.Add([]byte(mutatingPolicy("p", mutation)), []byte(object))
	}
	f.Fuzz(func(t *testing.T, policy, object []byte) {
		begun := cputime.Process()
		docs := documents(t, mutatingBinding("p"), testNamespace)
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
		req := widgetRequest(t, OperationUpdate, `{}`)
		req.Object, req.OldObject, req.Schema = objects[1], objects[1], widgetSchema(t)
		before, err := json.Marshal(objects[1])
		if err != nil {
			return
		}
		if _, err := set.Mutate(context.Background(), req); err != nil {
			t.Fatal(err)
		}
		if after, err := json.Marshal(objects[1]); err != nil || !bytes.Equal(before, after) {
			t.Fatal("the object is modified")
		}
		if used := cputime.Process() - begun; used > fuzzCPU {
			t.Fatalf("%s of processor time", used)
		}
	})
}
