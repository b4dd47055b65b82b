package ruletest_test

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/x/ruletest"
)

func TestPasswordsInValues(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(`{metadata: {name: locks.l.test}, spec: {group: l.test, scope: Namespaced, names: {plural: locks, kind: Lock}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
			properties: {key: {type: string, format: password}, size: {type: integer}},
			x-kubernetes-validations: [{rule: "self.key.substring(0, 3) == 'abc' && self.size > 9"}]}}}}}]}}`), crd); err != nil {
		t.Fatal(err)
	}
	suite := ruletest.Parse("s.yaml", 1, []byte(`kind: RuleTest
apiVersion: celadon/v1
crd: crd.yaml
version: v1
tests:
- name: a
  expect: valid
  object: {apiVersion: l.test/v1, kind: Lock, metadata: {name: a}, spec: {key: geheim, size: 7}}
`))
	r := ruletest.New(ruletest.Config{}).Run(context.Background(), suite, []*ruletest.CRD{{File: "crd.yaml", Definition: crd}}, nil)
	if len(r.Cases) != 1 || r.Cases[0].Got == nil || len(r.Cases[0].Got.Causes) != 1 {
		t.Fatalf("got %+v", r)
	}
	values := map[string]any{}
	for _, v := range r.Cases[0].Got.Causes[0].Values {
		values[v.Expr] = v.Value
		if text, ok := v.Value.(string); ok && strings.Contains("geheim", text) {
			t.Errorf("%s is shown: %v", v.Expr, v.Value)
		}
	}
	if values["self.key.substring(0, 3)"] != "(hidden)" {
		t.Errorf("got %v", values)
	}
}
