package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	duplicate := errors.New("yaml: unmarshal errors:\n  line 7: key \"size\" already set in map\n  line 8: key \"size\" already set in map")
	for name, tt := range map[string]struct {
		object, validation, failure string
		warnings                    []string
	}{
		"strict": {`spec: {size: 1, x: 1}`, "Strict", `strict decoding error: ` + duplicate.Error() + `, unknown field "spec.x"`, nil},
		"warn": {`spec: {size: 1, x: 1}`, "Warn", "", []string{
			`line 7: key "size" already set in map`, `line 8: key "size" already set in map`, `unknown field "spec.x"`,
		}},
		"ignore":     {`spec: {size: 1, x: 1}`, "Ignore", "", nil},
		"undecoded":  {`spec: {size: 1}, kind: 1`, "Warn", "json: cannot unmarshal number", nil},
		"only these": {`spec: {size: 1}`, "Strict", `strict decoding error: ` + duplicate.Error(), nil},
	} {
		obj := object(t, `{apiVersion: example.org/v1, metadata: {name: g, namespace: d}, `+tt.object+`}`)
		if obj["kind"] == nil {
			obj["kind"] = "Gizmo"
		}
		res, err := e.Validate(t.Context(), engine.Request{Object: obj, FieldValidation: tt.validation, DuplicateKeys: duplicate})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(res.Warnings, tt.warnings) {
			t.Errorf("%s: warnings %q, want %q", name, res.Warnings, tt.warnings)
		}
		switch {
		case res.Allowed != (tt.failure == ""):
			t.Errorf("%s: allowed %v", name, res.Allowed)
		case !res.Allowed && !strings.Contains(res.Failure.Message, tt.failure):
			t.Errorf("%s: %s, want %s", name, res.Failure.Message, tt.failure)
		}
	}
}

func TestRatcheted(t *testing.T) {
	t.Parallel()
	const crd = `
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
          spec:
            type: object
            properties:
              size: {type: integer, maximum: 3}
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              other: {type: string}
          status: {type: object, properties: {size: {type: integer, maximum: 3}, other: {type: string}}}
`
	e := mustCompile(t, crd)
	const head = `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g, namespace: d}, `
	old := `spec: {size: 5, set: [a, a]}, status: {size: 7}}`
	for name, tt := range map[string]struct {
		object, subresource string
		without             bool
		want                []string
	}{
		"unchanged": {`spec: {size: 5, set: [a, a], other: x}}`, "", false, []string{"spec.set[1]", "spec.size", "status.size"}},
		"corrected": {`spec: {size: 3, set: [a], other: x}}`, "", false, []string{"status.size"}},
		"status":    {`spec: {}, status: {size: 7, other: x}}`, "status", false, []string{"spec.set[1]", "status.size"}},
		"off":       {`spec: {size: 5, set: [a, a], other: x}}`, "", true, nil},
	} {
		req := engine.Request{Object: object(t, head+tt.object), OldObject: object(t, head+old), Subresource: tt.subresource, Ratcheted: !tt.without}
		res, err := e.Validate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cause := range res.Ratcheted {
			got = append(got, cause.Field)
		}
		slices.Sort(got)
		if !res.Allowed || !slices.Equal(got, tt.want) {
			t.Errorf("%s: allowed %v, %q, want %q: %v", name, res.Allowed, got, tt.want, res.Failure)
		}
	}
}
