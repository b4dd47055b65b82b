package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const sizeCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.size.test}
spec:
  group: size.test
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}}}}
`

// The limits are the same as in cmd/celadon/internal/check/size.go. etcd has its default limit.
func TestTooLargeOnServer(t *testing.T) {
	const (
		etcdDefault = 3 << 19
		maxBody     = 3 << 20
	)
	s, err := startWith(etcdDefault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	crd, err := parseCRD([]byte(sizeCRD))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		code int
		want string
	}{
		"fits":             {strings.Repeat("x", etcdDefault-1000), http.StatusCreated, ""},
		"too large":        {strings.Repeat("x", etcdDefault), http.StatusInternalServerError, "etcdserver: request is too large"},
		"grows in storage": {strings.Repeat("<", etcdDefault/6+1), http.StatusInternalServerError, "etcdserver: request is too large"},
		"far too large":    {strings.Repeat("x", 5<<19), http.StatusInternalServerError, "trying to send message larger than max"},
		"not even read":    {strings.Repeat("x", maxBody), http.StatusRequestEntityTooLarge, "limit is 3145728"},
	} {
		body := fmt.Appendf(nil, `{"apiVersion":"size.test/v1","kind":"Thing","metadata":{"name":%q},"text":%q}`, strings.ReplaceAll(name, " ", "-"), tt.text)
		got, err := r.do(t.Context(), call{method: http.MethodPost, version: "v1", namespace: "default", body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got.code != tt.code || !strings.Contains(string(got.body), tt.want) {
			t.Errorf("%s: the server answers %d %.300s, want %d %s", name, got.code, got.body, tt.code, tt.want)
		}
	}
}
