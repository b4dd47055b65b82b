package conformance

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// marker is a deprecation warning that shows which schema is in use, because the server updates the
// warning and the schema together.
const marker = "the schema of the case is in force"

func TestStoredIsAsUpdated(t *testing.T) {
	s := startServer(t)
	for _, file := range []string{"ratcheting", "status-ratcheting", "ratcheting-all-of", "unchanged-duplicates"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			o, err := readOwn("testdata/" + file + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			updated := byUpdate(t, s, o)
			put := byPut(t, s, o, s.Serve)
			stored := byPut(t, s, o, s.serveStored)
			if d := cmp.Diff(updated, put, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("the long way (-) and an object in etcd (+) differ:\n%s", d)
			}
			if d := cmp.Diff(put, stored, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("a CRD that was created (-) and one in etcd (+) differ:\n%s", d)
			}
		})
	}
}

func TestAskedAgain(t *testing.T) {
	t.Parallel()
	requests := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if requests++; requests < 3 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.Copy(w, req.Body)
	}))
	defer ts.Close()
	s := &Server{host: ts.URL, client: ts.Client()}
	got, err := s.do(t.Context(), http.MethodPost, "/x", []byte("body"))
	if err != nil || got.code != http.StatusOK || string(got.body) != "body" || requests != 3 {
		t.Error(got, err, requests)
	}
}

type serve func(context.Context, *apiextensionsv1.CustomResourceDefinition) (*Resource, error)

func byPut(t *testing.T, s *Server, o *Own, serve serve) Answer {
	t.Helper()
	r, err := serve(t.Context(), o.CRD.Definition)
	if err != nil {
		t.Fatal(err)
	}
	defer remove(t, r)
	trial, err := r.try(t.Context(), o.Case, o.namespace())
	if err != nil {
		t.Fatal(err)
	}
	if !trial.seeded {
		t.Error("the old object was not put into etcd")
	}
	return withoutManaged(t, trial.answer)
}

func byUpdate(t *testing.T, s *Server, o *Own) Answer {
	t.Helper()
	r, err := s.Serve(t.Context(), withoutValidations(o.CRD.Definition))
	if err != nil {
		t.Fatal(err)
	}
	defer remove(t, r)
	create(t, r, o)
	replace(t, r, o.CRD.Definition)
	old, err := r.get(t.Context(), o.Version, o.namespace(), nameOf(o.OldObject))
	if err != nil {
		t.Fatal(err)
	}
	object := inNamespace(o.Object, o.namespace())
	setDefault(object, "resourceVersion", metadataOf(old)["resourceVersion"])
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := r.send(t.Context(), o.Case, &trial{}, call{
		method: http.MethodPut, namespace: o.namespace(), name: nameOf(object), subresource: o.Subresource, body: body,
	})
	if err != nil {
		t.Fatal(err)
	}
	a := withoutManaged(t, trial.answer)
	a.Warnings = slices.DeleteFunc(a.Warnings, func(w string) bool { return w == marker })
	return a
}

func create(t *testing.T, r *Resource, o *Own) {
	t.Helper()
	body, err := json.Marshal(inNamespace(o.OldObject, o.namespace()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.do(t.Context(), call{method: http.MethodPost, version: o.Version, namespace: o.namespace(), body: body})
	if err != nil || got.code != http.StatusCreated {
		t.Fatalf("create the old object: %v, %+v", err, got)
	}
}

func withoutValidations(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := crd.DeepCopy()
	for i := range out.Spec.Versions {
		out.Spec.Versions[i].Subresources = nil
		out.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: ptr.To(true),
		}
	}
	return out
}

func replace(t *testing.T, r *Resource, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	crds := r.server.crds.ApiextensionsV1().CustomResourceDefinitions()
	current, err := crds.Get(t.Context(), crd.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	crd.Spec.DeepCopyInto(&current.Spec)
	for i := range current.Spec.Versions {
		current.Spec.Versions[i].Deprecated = true
		current.Spec.Versions[i].DeprecationWarning = ptr.To(marker)
	}
	if _, err := crds.Update(t.Context(), current, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.poll(t.Context(), func(a *response) bool { return slices.Contains(a.warnings, marker) }); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, r *Resource) {
	t.Helper()
	if err := r.Remove(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func withoutManaged(t *testing.T, a Answer) Answer {
	t.Helper()
	data, err := comparable(a.Object)
	if err != nil {
		t.Fatal(err)
	}
	a.Object = nil
	if data != nil {
		if err := json.Unmarshal(data, &a.Object); err != nil {
			t.Fatal(err)
		}
	}
	a.Causes = sortedCauses(a.Causes)
	if len(a.Causes) > 1 {
		a.Message = ""
	}
	slices.Sort(a.Warnings)
	return a
}
