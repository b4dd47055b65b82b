package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const placed = `
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
        properties:
          metadata: {type: object, properties: {name: {type: string}}}
          spec:
            type: object
            properties:
              text: {type: string}
              list: {type: array, items: {type: object, properties: {a: {type: integer, nullable: true}}}}
              lists: {type: array, items: {type: array, items: {type: string}}}
              map: {type: object, additionalProperties: {type: object, properties: {a: {type: number}}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}
              any: {x-kubernetes-preserve-unknown-fields: true}
              either: {x-kubernetes-int-or-string: true}
          status: {type: object, default: {at: home}, properties: {at: {type: string}}}
`

// The values are not produced by JSON decoding. The error must name the path, regardless of the verdict.
func TestForeignValues(t *testing.T) {
	t.Parallel()
	whole := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, labels: {l: v}, finalizers: [a/b], unknown: {x: y}},
		spec: {text: t, list: [{a: 1, unknown: [u]}], lists: [[a]], map: {k: {a: 1.5}}, open: {a: s, b: {c: [d]}}, any: {a: [b]}, either: 1, unknown: {a: [b]}},
		status: {at: work, unknown: u}, unknown: {a: [b]}}`)
	embedded := strings.Replace(placed, "any: {x-", "any: {type: object, x-kubernetes-embedded-resource: true, x-", 1)
	for name, e := range map[string]*engine.Engine{"plain": mustCompile(t, placed), "embedded": mustCompile(t, embedded)} {
		for _, req := range []engine.Request{{}, {OldObject: whole}, {OldObject: whole, Subresource: "status"}, {Merged: true}, {FieldValidation: "Ignore"}, {FieldValidation: "Strict"}} {
			n := 0
			eachPlace("", whole, func(path string, set func(any)) {
				n++
				for _, notJSON := range []any{1, int32(1), float32(1), json.Number("1"), []string{"a"}, map[string]string{"a": "b"}, struct{}{}, &whole} {
					set(notJSON)
					req := req
					req.Object = whole
					if req.OldObject != nil {
						req.OldObject = object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d}}`)
					}
					want := fmt.Sprintf("%s: Go type %T in the request's object", path, notJSON)
					if _, err := e.Validate(t.Context(), req); err == nil || !strings.HasPrefix(err.Error(), want) {
						t.Errorf("%s: got %v, want %s", name, err, want)
					}
				}
			})
			if n < 40 {
				t.Errorf("only %d places", n)
			}
		}
	}
}

// set replaces the value until f returns.
func eachPlace(path string, v any, f func(path string, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for name, was := range v {
			below := strings.TrimPrefix(path+"."+name, ".")
			f(below, func(n any) { v[name] = n })
			v[name] = was
			eachPlace(below, was, f)
		}
	case []any:
		for i, was := range v {
			below := fmt.Sprintf("%s[%d]", path, i)
			f(below, func(n any) { v[i] = n })
			v[i] = was
			eachPlace(below, was, f)
		}
	}
}

func TestDefaultsStay(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, strings.Replace(placed, "list: {type: array,", "list: {type: array, default: [{a: 1}, {}],", 1))
	given := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d}, spec: {}}`)
	for range 2 {
		res, err := e.Validate(t.Context(), engine.Request{Object: given})
		if err != nil || !res.Allowed {
			t.Fatal(err, res)
		}
		got := map[string]any{"spec": res.Object["spec"], "status": res.Object["status"]}
		if text, _ := json.Marshal(got); string(text) != `{"spec":{"list":[{"a":1},{}]},"status":{"at":"home"}}` {
			t.Fatalf("got %s", text)
		}
		list := res.Object["spec"].(map[string]any)["list"].([]any)
		list[0].(map[string]any)["a"], list[1] = "spoilt", nil
		res.Object["status"].(map[string]any)["at"] = "spoilt"
	}
}
