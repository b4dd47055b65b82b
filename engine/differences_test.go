package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const numbersCRD = `{metadata: {name: ks.g}, spec: {group: g, names: {kind: K, plural: ks}, scope: Namespaced, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    count: {type: integer}, list: {type: array, items: {type: integer}}}, x-kubernetes-validations: [
      {rule: "!has(self.count) || self.count > 1"}, {rule: "!has(self.list) || self.list.all(x, self.list.all(y, x + y >= 0))"}, {rule: "true"}]}}}}}]}}`

// In a file, 5.0 is the integer that kubectl sends. In the body of a request, it is a float, which a rule on an
// integer rejects.
func TestIntegralNumbers(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, numbersCRD)
	const object = `{"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "a"}, "spec": {"count": 5.0}}`
	if res, err := e.ValidateYAML(t.Context(), []byte(object), nil); err != nil || !res.Allowed {
		t.Errorf("a file: got %+v, %v", res, err)
	}
	if res, err := e.Validate(t.Context(), engine.Request{Raw: []byte(object)}); err != nil || res.Allowed || len(res.Causes) != 1 || res.Causes[0].Rule == nil {
		t.Errorf("a request: got %+v, %v", res, err)
	}
}

// The remaining budget is negative if a rule exceeds the limit of a call, as in the server. The cost includes the
// evaluations that ran.
func TestCostAtLimit(t *testing.T) {
	t.Parallel()
	list := make([]any, 2000)
	for i := range list {
		list[i] = int64(i)
	}
	spec := map[string]any{"list": list}
	res, err := mustCompile(t, numbersCRD).Validate(t.Context(), engine.Request{Trace: true, Object: map[string]any{"apiVersion": "g/v1", "kind": "K", "metadata": map[string]any{"name": "a"}, "spec": spec}})
	if err != nil || res.Allowed || len(res.Causes) != 1 || !strings.Contains(res.Causes[0].Message, "call cost exceeds limit") {
		t.Fatalf("got %+v, %v", res, err)
	}
	if res.Cost <= 1_000_000 || res.Cost > 1_000_100 {
		t.Errorf("cost %d, want just over the limit of a call", res.Cost)
	}
	props, err := json.Marshal(crd(t, numbersCRD).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
	if err != nil {
		t.Fatal(err)
	}
	rules, err := engine.CompileRules(structural(t, string(props)), engine.Config{Subtree: true})
	if err != nil {
		t.Fatal(err)
	}
	if errs, left := rules.Validate(t.Context(), nil, spec, nil, 10_000_000); len(errs) != 1 || left != -1 {
		t.Errorf("got %v, %d left", errs, left)
	}
}
