package policyvet_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

func TestEstimatesHold(t *testing.T) {
	t.Parallel()
	objects := documents(t, `
{metadata: {name: a, namespace: n, labels: {a: b}}, spec: {name: abcdefghij, note: abcdefghij, size: 7, replicas: 3, tags: [aaaaaaaaaa, bbbbbbbbbb, cccccccccc, dddddddddd, eeeeeeeeee], ports: [{name: aaaaaaaaaa, port: 1}, {name: bbbbbbbbbb, port: 2}, {name: c, port: 3}]}}
---
{metadata: {name: b}, spec: {name: b, note: b, size: 1, replicas: 1, tags: [], ports: []}}
`)
	const variables = "variables: [{name: tags, expression: object.spec.tags}, {name: names, expression: 'object.spec.ports.map(p, p.name)'}, {name: both, expression: variables.tags + variables.names}]\n"
	for _, x := range []string{
		"object.spec.size > 1",
		"object.spec.tags.all(t, t.startsWith('a') || t.size() > 3)",
		"object.spec.tags.all(a, object.spec.tags.exists_one(b, a == b))",
		"object.spec.ports.filter(p, p.port > 1).map(p, p.name).all(n, n.matches('^[a-z]+$'))",
		"variables.tags.exists(t, t in variables.names) || variables.both.size() > 3",
		"variables.both.all(t, variables.both.exists(u, u == t))",
		"object.spec.name + object.spec.note == 'abc' || string(object.spec.size) == '7'",
		"object.spec.?note.orValue('x').contains('abc') && has(object.spec.size)",
		"request.userInfo.username.startsWith('system:') || request.userInfo.groups.exists(g, g == 'a')",
		"request.name == object.metadata.name && request.operation in ['CREATE', 'UPDATE']",
		"object.spec.tags == object.spec.ports.map(p, p.name) || oldObject == null",
		"dyn(object.spec.size) == dyn(object.spec.tags) || object.spec.name.lowerAscii() == 'b'",
		"object.spec.name.split('c').join('d') != '' && isQuantity(object.spec.note)",
	} {
		text := policyOf("CREATE example.com widgets", variables+"validations: [{expression: "+quote(x)+", messageExpression: \"'size: ' + string(object.spec.size) + object.spec.name\"}]")
		reports := vet(t, text)
		if len(reports[0].Errors)+len(reports[0].Warnings) > 0 {
			t.Fatalf("%s: %+v", x, reports[0])
		}
		set, err := policy.Compile(documents(t, text), policy.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			res, err := set.Evaluate(context.Background(), policy.Request{
				Operation: policy.OperationCreate, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
				Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "a", Object: object,
				User: policy.User{Name: "system:serviceaccount:a:b", Groups: []string{"a", "b"}},
			})
			if err != nil || len(res.Evaluations) != 1 {
				t.Fatalf("%s: %+v, %v", x, res, err)
			}
			if cost, estimate := uint64(res.Evaluations[0].Cost), reports[0].Estimates[0].Validations; cost > estimate {
				t.Errorf("%s: costs %d, estimated %d", x, cost, estimate)
			}
		}
	}
}
