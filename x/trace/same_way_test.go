package trace_test

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

func TestWhySeesWhatTheRuleSaw(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(`
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'a-00000'"}`), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode([]byte(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"generateName": "a-"}}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil || len(res.Causes) != 1 {
		t.Fatal(res, err)
	}
	whys, err := trace.NewExplainer(e).Why(t.Context(), res.Prepared, res.Causes)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(whys)
	if want := "[[{self.metadata.name a-00000}]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
