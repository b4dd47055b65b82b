package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/types"
)

func TestMutateLimits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var operations []string
	for i := range 60 {
		operations = append(operations, fmt.Sprintf("JSONPatch{op: 'copy', from: '/spec', path: '/spec/c%d'}", i))
	}
	res := mutate(t, mustCompileMutating(t, mutatingPolicy("p", jsonPatch("["+strings.Join(operations, ", ")+"]"))), mutableRequest(t, "{a: text}"))
	if res.Failure == nil || !strings.Contains(res.Failure.Message, "exceeding the limit 3145728") {
		t.Errorf("copies: got %+v, %v", res, res.Failure)
	}
	var texts []string
	for i := range 1000 {
		name := fmt.Sprintf("p%04d", i)
		texts = append(texts, mutatingPolicy(name, jsonPatch("[JSONPatch{op: 'add', path: '/spec/a/-', value: object.spec.a}]")), mutatingBinding(name))
	}
	res = mutate(t, mustCompile(t, Config{}, texts...), mutableRequest(t, "{a: [x]}"))
	if len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, "16 MiB") {
		t.Errorf("an object that doubles 1,000 times: got %+v, %v", res.Undecided, res.Failure)
	}
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{size: variables.b}}")+"\n  variables: [{name: a, expression: dyn(variables).b}, {name: b, expression: variables.a}]"))
	if res := mutate(t, set, mutableRequest(t, "{}")); len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, "needs its own value") {
		t.Errorf("a cycle: got %+v, %v", res.Undecided, res.Failure)
	}
	set, err := Compile(documents(t, mutatingPolicy("p", apply("Object{spec: Object.spec{size: object.spec.size + 1}}")), mutatingBinding("p")), Config{Limits: cost.Limits{PerObject: 20}})
	if err != nil {
		t.Fatal(err)
	}
	if res := mutate(t, set, mutableRequest(t, "{size: 1}")); res.Failure == nil || !strings.HasSuffix(res.Failure.Message, outOfBudget) {
		t.Errorf("the budget: got %+v, %v", res, res.Failure)
	}
}

func TestMutateDeepObject(t *testing.T) {
	t.Parallel()
	req := mutableRequest(t, "{}")
	deep := any("x")
	for range 4900 {
		deep = map[string]any{"a": []any{deep}}
	}
	req.Object["spec"].(map[string]any)["free"] = deep
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{free: Object.spec.free{b: object.spec.free}}}"), jsonPatch("[JSONPatch{op: 'copy', from: '/spec/free', path: '/spec/copy'}]")))
	if res := mutate(t, set, req); !res.Changed || res.Failure != nil {
		t.Errorf("got %v, %v", res.Undecided, res.Failure)
	}
}

func TestMutateLongLists(t *testing.T) {
	t.Parallel()
	req := mutableRequest(t, "{}")
	names := make([]any, maxKeyed+1)
	for i := range names {
		names[i] = fmt.Sprint(len(names) - i)
	}
	req.Object["spec"].(map[string]any)["names"] = names
	set := mustCompileMutating(t, mutatingPolicy("p", apply("Object{spec: Object.spec{size: 1}}")))
	if res := mutate(t, set, req); len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, "spec.names has over 20000 items") {
		t.Errorf("got %+v, %v", res.Undecided, res.Failure)
	}
}

func TestMutateMany(t *testing.T) {
	t.Parallel()
	texts := []string{mutatingPolicy("p", apply("Object{spec: Object.spec{size: params.max}}")+"\n  paramKind: {apiVersion: example.com/v1, kind: Limit}")}
	for i := range 300 {
		texts = append(texts, fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: b%d}, spec: {policyName: p, paramRef: {selector: {}, parameterNotFoundAction: Deny}}}`, i),
			fmt.Sprintf(`{apiVersion: example.com/v1, kind: Limit, metadata: {name: p%d, namespace: ns}, max: 1}`, i))
	}
	if res := mutate(t, mustCompile(t, Config{}, texts...), mutableRequest(t, "{}")); len(res.Undecided) != 1 || !strings.Contains(res.Undecided[0].Reason, "over 20000 decisions") {
		t.Errorf("90,000 combinations: got %v, %v", res.Undecided, res.Failure)
	}
}

func TestMergeWork(t *testing.T) {
	t.Parallel()
	object := mutableRequest(t, "{names: [a, b, c], ports: [{port: 1}]}").Object
	object["apiVersion"], object["kind"] = "example.com/v1", "Widget"
	errSpent, work := errors.New("spent"), uint64(0)
	_, err := widgetSchema(t).merge(object, map[string]any{}, widgetRequest(t, OperationCreate, "{}").Kind, types.Newest, func(units uint64) error {
		work = units
		return errSpent
	})
	if !errors.Is(err, errSpent) || work < 4*keyedWork || work > 5*keyedWork {
		t.Errorf("got %v and %d units of work", err, work)
	}
}
