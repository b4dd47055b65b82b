package builtin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
	"sigs.k8s.io/yaml"
)

func yamlObject(t *testing.T, text string) map[string]any {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestX(t *testing.T) {
	old := yamlObject(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  uid: "1"
  managedFields:
  - {manager: kubectl, operation: Apply, apiVersion: v1, time: "2024-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}, "f:gone": {}}}}
  - {manager: c, operation: Update, apiVersion: v1, time: "2024-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:b": {}}}}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"a"},"data":{"a":"1","gone":"x"}}
data: {a: "1", gone: x, b: "2"}
`)
	for _, text := range []string{"data: {a: '5'}", "data: {b: '5'}", "data: {b: '2'}", "dato: {}", "data: {a: {}}"} {
		o := yamlObject(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"+text)
		for _, kind := range apply.Kinds {
			res, err := builtin.Validate(context.Background(), builtin.Request{Object: o, OldObject: old, FieldValidation: "Strict", Apply: apply.Write{Kind: kind, Manager: "kubectl"}})
			if err != nil {
				var e *engine.InternalError
				if errors.As(err, &e) {
					t.Fatal(err, string(e.Stack))
				}
				t.Error(err)
				continue
			}
			t.Log(text, kind, res.Allowed, res.Failure, res.Object["data"])
		}
	}
}
