package builtin_test

import (
	"fmt"
	"testing"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/x/apply"
)

// applied is an object that kubectl applied and a controller changed.
const applied = `
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
`

func TestApply(t *testing.T) {
	for _, test := range []struct {
		data                    string
		client, server, replace string
	}{
		{"data: {a: '5'}", "map[a:5 b:2]", "map[a:5 b:2]", "map[a:5]"},
		{"data: {b: '5'}", "map[b:5]", "409", "map[b:5]"},
		{"data: {b: '2'}", "map[b:2]", "map[b:2]", "map[b:2]"},
		{"dato: {}", "422", "500", "400"},
		{"data: {a: {}}", "422", "500", "400"},
	} {
		for kind, want := range map[apply.Kind]string{apply.Client: test.client, apply.Server: test.server, apply.Replace: test.replace} {
			res, err := builtin.Validate(t.Context(), builtin.Request{
				Object: object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"+test.data), OldObject: object(t, applied),
				FieldValidation: "Strict", Apply: apply.Write{Kind: kind, Manager: "kubectl"},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(res.Object["data"])
			if !res.Allowed {
				got = fmt.Sprint(res.Failure.Code)
			}
			if got != want {
				t.Errorf("%s, %s: got %s, want %s", test.data, kind, got, want)
			}
		}
	}
}

func TestCreateByApply(t *testing.T) {
	for _, kind := range []apply.Kind{apply.Client, apply.Server} {
		res, err := builtin.Validate(t.Context(), builtin.Request{Object: object(t, deployment), Apply: apply.Write{Kind: kind, Manager: "kubectl"}})
		if err != nil || !res.Allowed {
			t.Fatal(kind, err, res)
		}
		if has := apply.Annotation(res.Object, apply.LastApplied) != ""; has != (kind == apply.Client) {
			t.Errorf("%s: annotated: %v", kind, has)
		}
	}
}
