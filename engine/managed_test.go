package engine_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const tracked = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: self == oldSelf}]
        properties:
          more: {type: string}
          spec: {type: object, properties: {a: {type: integer}}}
`

// TestManagedFieldsOfStatusWrites: a write to /status that asks for another
// field changes who wrote the object, if the server notes that of it. The
// conformance cases managed-fields-status* are the same on a real server.
func TestManagedFieldsOfStatusWrites(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, tracked)
	head := func(metadata, body string) map[string]any {
		return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, `+metadata+`}`+body+`}`)
	}
	for name, tt := range map[string]struct {
		old, body, asked string
		same             bool
	}{
		"hidden":        {`resourceVersion: "2"`, `, more: a`, `, more: b`, false},
		"shown":         {`resourceVersion: "2", managedFields: [{manager: m, operation: Update, apiVersion: example.org/v1, fieldsType: FieldsV1, fieldsV1: {"f:more": {}}}]`, `, more: a`, `, more: b`, false},
		"field away":    {`resourceVersion: "2"`, `, more: a`, ``, false},
		"none":          {`resourceVersion: "2", managedFields: []`, `, more: a`, `, more: b`, true},
		"from a file":   {`labels: {}`, `, more: a`, `, more: b`, true},
		"nothing noted": {`resourceVersion: "2"`, ``, `, more: b`, true},
		"label noted":   {`resourceVersion: "2", labels: {a: b}`, ``, `, more: b`, false},
		"only spec":     {`resourceVersion: "2"`, `, spec: {a: 1}`, `, spec: {a: 2}`, true},
		"unchanged":     {`resourceVersion: "2"`, `, more: a`, `, more: a`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := e.Validate(t.Context(), engine.Request{
				Object: head(`resourceVersion: "2"`, tt.asked), OldObject: head(tt.old, tt.body), Subresource: "status",
			})
			if err != nil || res.Allowed != tt.same {
				t.Errorf("self == oldSelf is %v: want %v (%v)", res != nil && res.Allowed, tt.same, err)
			}
		})
	}
}
