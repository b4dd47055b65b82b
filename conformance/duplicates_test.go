package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

const duplicatesCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: raws.duplicates.test}
spec:
  group: duplicates.test
  scope: Namespaced
  names: {plural: raws, singular: raw, kind: Raw, listKind: RawList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {s: {type: string}, n: {type: integer, maximum: 3}, m: {type: object, additionalProperties: {type: string}}}}
`

func TestDuplicateKeysOnServer(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	crd, err := parseCRD([]byte(duplicatesCRD))
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
	const head = "apiVersion: duplicates.test/v1\nkind: Raw\n"
	for name, text := range map[string]string{
		"one":                    head + "metadata:\n  name: a\nspec:\n  s: a\n  s: b\n",
		"several":                head + "metadata:\n  name: a\nspec:\n  s: a\n  s: b\n  m: {x: a, x: b}\n  s: c\n",
		"and unknown":            head + "metadata:\n  name: a\nspec:\n  s: a\n  s: b\n  zz: 1\n  yy: 2\n",
		"and an invalid value":   head + "metadata:\n  name: a\nspec:\n  s: a\n  s: b\n  n: 5\n",
		"and undecodable labels": head + "metadata:\n  name: a\n  name: b\n  labels: {x: 1}\nspec: {}\n",
		"and another version":    "apiVersion: duplicates.test/v9\nkind: Raw\nmetadata:\n  name: a\nspec:\n  s: a\n  s: b\n",
		"unknown only":           head + "metadata:\n  name: a\nspec:\n  zz: 1\n",
		"none":                   head + "metadata:\n  name: a\nspec:\n  s: a\n",
	} {
		for _, validation := range []string{"Strict", "Warn", "Ignore"} {
			t.Run(name+" "+validation, func(t *testing.T) {
				got := r.postYAML(t, validation+"&dryRun=All", []byte(text))
				v, duplicate, err := decode.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				object, _ := v.(map[string]any)
				res, err := e.Validate(t.Context(), engine.Request{Object: object, FieldValidation: validation, DuplicateKeys: duplicate})
				if err != nil {
					t.Fatal(err)
				}
				want := &response{code: http.StatusCreated, warnings: res.Warnings}
				message := ""
				if !res.Allowed {
					want.code, message = int(res.Failure.Code), res.Failure.Message
				}
				var status metav1.Status
				if err := json.Unmarshal(got.body, &status); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(fmt.Sprint(got.code, status.Message, got.warnings), fmt.Sprint(want.code, message, want.warnings)); diff != "" {
					t.Errorf("(-server +engine):\n%s", diff)
				}
			})
		}
	}
}

func (r *Resource) postYAML(t *testing.T, validation string, body []byte) *response {
	t.Helper()
	path := r.path(call{version: "v1", namespace: "default"}) + "?fieldValidation=" + validation
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/yaml")
	request.Header.Set("Accept", "application/json")
	answer, err := r.server.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	headers, errs := utilnet.ParseWarningHeaders(answer.Header["Warning"])
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	out := &response{code: answer.StatusCode, body: content}
	for _, h := range headers {
		out.warnings = append(out.warnings, h.Text)
	}
	return out
}
