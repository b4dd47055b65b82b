package engine_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const lazyCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  names: {kind: Lamp, plural: lamps}
  scope: Namespaced
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
            properties: {watts: {type: integer}}
            x-kubernetes-validations:
            - rule: self.watts <= 100
              messageExpression: "'at most 100, got ' + string(self.watts)"
            - rule: self.watts >= oldSelf.watts
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {watts: {type: integer}}
            x-kubernetes-validations:
            - rule: self.volts > 0
`

func TestLazy(t *testing.T) {
	t.Parallel()
	eager, err := engine.CompileCRD([]byte(lazyCRD), engine.Config{})
	var invalid *engine.CompileErrors
	if !errors.As(err, &invalid) || len(invalid.Errors) != 1 {
		t.Fatalf("eager: got %v, want one invalid rule", err)
	}
	lazy, err := engine.CompileCRD([]byte(lazyCRD), engine.Config{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	lamp := func(version string, watts int64) map[string]any {
		return map[string]any{
			"apiVersion": "example.com/" + version, "kind": "Lamp", "metadata": map[string]any{"name": "a", "namespace": "b"},
			"spec": map[string]any{"watts": watts},
		}
	}
	var wait sync.WaitGroup
	for _, version := range []string{"v1", "v1beta1"} {
		for watts := int64(97); watts < 105; watts++ {
			wait.Go(func() {
				req := engine.Request{Object: lamp(version, watts), OldObject: lamp(version, 101)}
				want, err := eager.Validate(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := lazy.Validate(t.Context(), req)
				if err != nil || got.Allowed != want.Allowed || got.Cost != want.Cost || !reflect.DeepEqual(texts(got), texts(want)) {
					t.Errorf("%s, %d watts: got %v, %v, want %v", version, watts, texts(got), err, texts(want))
				}
			})
		}
	}
	wait.Wait()
	for _, version := range []string{"v1", "v1beta1", "v2"} {
		if got, want := lazy.Rules(version), eager.Rules(version); !reflect.DeepEqual(got, want) {
			t.Errorf("rules of %s: got %v, want %v", version, got, want)
		}
	}
}

func texts(res *engine.Result) (all []string) {
	for _, c := range res.Causes {
		all = append(all, c.Field+": "+c.Message)
	}
	return all
}
