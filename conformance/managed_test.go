package conformance

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/engine"
)

const managedCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.managed.test}
spec:
  group: managed.test
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - {rule: "!has(oldSelf.status) || self.status.count < 2 || self.metadata == oldSelf.metadata", message: managedFields changed}
        properties: {status: {type: object, required: [count], properties: {count: {type: integer}}}}
`

// The server leaves managedFields unchanged if a manager writes the same fields twice within a second.
// The engine assumes that they change.
func TestManagedTimes(t *testing.T) {
	s := startServer(t)
	crd, err := parseCRD([]byte(managedCRD))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{
		"apiVersion": "managed.test/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "default", "labels": map[string]any{"a": "b"}},
	}
	send := func(method, subresource string, n int64) (int, map[string]any) {
		c := call{method: method, version: "v1", namespace: "default", subresource: subresource}
		if method == http.MethodPut {
			c.name, object["status"] = "a", map[string]any{"count": n}
		}
		if c.body, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
		got, err := r.do(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		obj, err := engine.Decode(got.body)
		if err != nil {
			t.Fatal(err)
		}
		if got.code < 300 {
			metadataOf(object)["resourceVersion"] = metadataOf(obj)["resourceVersion"]
		}
		return got.code, obj
	}
	if code, got := send(http.MethodPost, "", 0); code != http.StatusCreated {
		t.Fatalf("%d %v", code, got)
	}
	for i := range 20 {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		code, old := send(http.MethodPut, "status", -int64(i))
		if code != http.StatusOK {
			t.Fatalf("%d %v", code, old)
		}
		if code, _ := send(http.MethodPut, "status", 2); code != http.StatusOK {
			continue // a new second began between the two writes
		}
		result := validate(t, e, engine.Request{Object: object, OldObject: old, Subresource: "status"})
		if result.Allowed {
			t.Error("the engine does not take managedFields to change")
		}
		return
	}
	t.Error("each write changed managedFields, even within one second; so should this difference end")
}
