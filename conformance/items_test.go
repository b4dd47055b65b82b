package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const rootItemsCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.items.test}
spec:
  group: items.test
  scope: Namespaced
  names: {plural: boxes, singular: box, kind: Box, listKind: BoxList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          items: {type: array, items: {type: string}}
          note: {type: string}
`

// The server stores an object with a list called items at its root, but returns an error for the create
// and for each read of the object alone.
func TestRootItems(t *testing.T) {
	crd, err := parseCRD([]byte(rootItemsCRD))
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	defer remove(t, r)
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"empty": `{"apiVersion":"items.test/v1","kind":"Box","metadata":{"name":"empty"},"items":[],"note":"kept"}`,
		"some":  `{"apiVersion":"items.test/v1","kind":"Box","metadata":{"name":"some"},"items":["a"],"note":"kept"}`,
	} {
		ask := func(what string, c call, want int) {
			t.Helper()
			c.version, c.namespace = "v1", "default"
			got, err := s.do(t.Context(), c.method, r.path(c), c.body)
			if err != nil || got.code != want || want == http.StatusInternalServerError && !strings.Contains(string(got.body), rootItems) {
				t.Errorf("%s of %s: %v, %d %s; if the server has fixed this, remove this difference", what, name, err, got.code, got.body)
			}
		}
		ask("create", call{method: http.MethodPost, body: []byte(body)}, http.StatusInternalServerError)
		kept, err := s.store.Get(t.Context(), r.key("default", name))
		if err != nil || len(kept.Kvs) != 1 || !strings.Contains(string(kept.Kvs[0].Value), `"note":"kept"`) {
			t.Fatalf("%s is not stored: %v", name, err)
		}
		ask("read", call{method: http.MethodGet, name: name}, http.StatusInternalServerError)
		listed, err := r.do(t.Context(), call{method: http.MethodGet, version: "v1", namespace: "default", name: name})
		if err != nil || listed.code != http.StatusOK || !strings.Contains(string(listed.body), `"note":"kept"`) {
			t.Errorf("%s, as it is listed: %v, %+v", name, err, listed)
		}
		ask("list", call{method: http.MethodGet}, http.StatusOK)
		obj, err := engine.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Validate(t.Context(), engine.Request{Object: obj})
		if err != nil || !res.Allowed {
			t.Errorf("%s: we say %v, %v", name, res, err)
		}
		ask("delete", call{method: http.MethodDelete, name: name}, http.StatusOK)
	}
}
