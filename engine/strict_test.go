package engine_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/celadon-cel/celadon/engine"
)

const gizmos = `
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
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              map: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}
              list: {type: array, items: {type: object, properties: {a: {type: string}}}}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
`

// The server quotes the path of an unknown field, but does not escape it, and does not send warnings that a header
// cannot carry.
func TestUnknownFieldWords(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	places := []struct {
		path string // of the key
		put  func(obj map[string]any, key string)
	}{
		{"%s", func(obj map[string]any, key string) { obj[key] = int64(1) }},
		{"spec.%s", func(obj map[string]any, key string) { obj["spec"] = map[string]any{key: int64(1)} }},
		{"metadata.%s", func(obj map[string]any, key string) { obj["metadata"].(map[string]any)[key] = int64(1) }},
		{"spec.map.%s.b", func(obj map[string]any, key string) {
			obj["spec"] = map[string]any{"map": map[string]any{key: map[string]any{"b": int64(1)}}}
		}},
		{"spec.list[1].%s", func(obj map[string]any, key string) {
			obj["spec"] = map[string]any{"list": []any{map[string]any{}, map[string]any{key: int64(1)}}}
		}},
		{"spec.pod.metadata.%s", func(obj map[string]any, key string) {
			obj["spec"] = map[string]any{"pod": map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{key: int64(1)}}}
		}},
		{"spec.pod.%s", func(obj map[string]any, key string) {
			obj["spec"] = map[string]any{"pod": map[string]any{"apiVersion": "v1", "kind": "Pod", key: int64(1)}}
		}},
	}
	for _, key := range []string{`"q"`, `\`, `a\tb`, "a\tb", "a\nb", "\x00", "\x1b[31m", "\x7f", "\u0085", "zero\u200bwidth", "no\u00a0break", "\u2028", "é", "界", "😀", "\ufffd", "%s%d", "a.b", "x[0]", "'", "<&>", " "} {
		for _, at := range places {
			obj := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g, namespace: d}}`)
			at.put(obj, key)
			want := `unknown field "` + fmt.Sprintf(at.path, key) + `"`
			for _, req := range []engine.Request{{Object: obj}, {Raw: encode(t, obj)}} {
				res, err := e.Validate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				var warned []string
				if _, err := utilnet.NewWarningHeader(299, "", want); err == nil {
					warned = []string{want}
				}
				if !res.Allowed || !slices.Equal(res.Warnings, warned) {
					t.Errorf("%q: got %v, %q, want %q", want, res.Failure, res.Warnings, warned)
				}
				req.FieldValidation = "Strict"
				if res, err = e.Validate(t.Context(), req); err != nil {
					t.Fatal(err)
				}
				if text := `Gizmo in version "v1" cannot be handled as a Gizmo: strict decoding error: ` + want; res.Failure == nil || res.Failure.Message != text {
					t.Errorf("strict: got %v, want %s", res.Failure, text)
				}
			}
		}
	}
}

func encode(t testing.TB, obj map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestWarningsAreHeaders(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, strings.Replace(gizmos, "size: {type: integer}", `size: {type: integer}
              note: {type: string, x-kubernetes-validations: [{rule: "self == ''", messageExpression: "'no ' + self"}]}
              more: {type: string, x-kubernetes-validations: [{rule: "self == ''"}]}`, 1))
	obj := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g, namespace: d}, spec: {note: "a\tb", more: "a\tb"}}`)
	res, err := e.Validate(t.Context(), engine.Request{Object: obj, OldObject: obj})
	if err != nil {
		t.Fatal(err)
	}
	// The value is quoted, but the result of a messageExpression is not.
	if want := []string{`spec.more: Invalid value: "a\tb": failed rule: self == ''`}; !slices.Equal(res.Warnings, want) {
		t.Errorf("got %q, want %q", res.Warnings, want)
	}
	spec := map[string]any{}
	for i := range 100 {
		spec[fmt.Sprintf("x%02d%s", i, strings.Repeat("é", 300))] = int64(1)
	}
	obj["spec"] = spec
	res, err = e.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range res.Warnings {
		if n := len([]rune(text)); n != 256 {
			t.Errorf("%d runes: %s", n, text)
		}
	}
	if len(res.Warnings) != 16 {
		t.Errorf("got %d warnings", len(res.Warnings))
	}
}

func TestDecodingWords(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	for _, body := range []string{
		`{"apiVersion": "example.org/v1", "kind": 5}`,
		`{"apiVersion": 5, "kind": "Gizmo"}`,
		`{"apiVersion": 5, "kind": true}`,
		`{"apiVersion": "example.org/v1", "kind": {"a": 1}}`,
		`{"apiVersion": ["example.org/v1"], "kind": "Gizmo"}`,
		`{"apiVersion": "example.org/v1", "kind": 1.5, "metadata": 5}`,
		`{"apiVersion": "example.org/v1", "kind": null, "metadata": {"name": "<a>"}}`,
		`{"apiVersion": "example.org/v1", "kind": ""}`,
		`{"apiVersion": "example.org/v1"}`,
		`{}`,
		`{"kind": "Gizmo", "apiVersion": null, "KIND": 5}`,
		`{"kind": "Gizmo", "apiVersion": "example.org/v1", "ApiVersion": 5}`,
		`{"kind": "Gizmo", "apiVersion": "a/b/c"}`,
		`{"kind": "Gizmo", "apiVersion": "a/b/c", "metadata": 5}`,
		`{"kind": "Gizmo", "apiVersion": "example.org/v1", "apiversion": "a/b/c"}`,
		`{"kind": "Gizmo", "apiVersion": "a/b/c", "apiversion": "example.org/v1"}`,
	} {
		obj := object(t, body)
		for _, validation := range []string{"Warn", "Strict", "Ignore"} {
			strictly := validation != "Ignore"
			_, _, wanted := unserialize([]byte(body), strictly)
			_, _, given := unserialize(encode(t, obj), strictly)
			if wanted == "" {
				t.Fatalf("%s: upstream decodes it", body)
			}
			for want, req := range map[string]engine.Request{wanted: {Raw: []byte(body)}, given: {Object: obj}} {
				req.FieldValidation = validation
				res, err := e.Validate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if res.Failure == nil || res.Failure.Message != want {
					t.Errorf("%s: %s\ngot  %v\nwant %s", body, validation, res.Failure, want)
				}
			}
		}
	}
}

func TestDecodingWordsOfBytes(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	for _, body := range []string{
		`[1]`, `null`, `"a"`, `5`, ``, `{`, "kind: Gizmo", "\x00",
		`{"apiVersion": "example.org/v1", "kind": "Gizmo", "spec": {"size": 1e999}}`,
		`{"spec": {"size": 1e999}}`,
		`{"apiVersion": "example.org/v1", "kind": "Gizmo", "kind": 5}`,
	} {
		_, _, want := unserialize([]byte(body), true)
		res, err := e.Validate(t.Context(), engine.Request{Raw: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		if res.Failure == nil || res.Failure.Message != want {
			t.Errorf("%s:\ngot  %v\nwant %s", body, res.Failure, want)
		}
	}
}

// failure is the message that upstream's handler returns for an error.
func unserialize(body []byte, strictly bool) (obj map[string]any, strict []string, failure string) {
	typer := crdserverscheme.NewUnstructuredObjectTyper()
	s := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, nil, typer, serializer.SerializerOptions{Strict: strictly})
	into := &unstructured.Unstructured{}
	_, gvk, err := s.Decode(body, &runtimeschema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gizmo"}, into)
	if errs, ok := runtime.AsStrictDecodingError(err); ok {
		for _, err := range errs.Errors() {
			strict = append(strict, err.Error())
		}
		return into.Object, strict, ""
	}
	switch {
	case err == nil:
		return into.Object, nil, ""
	case gvk != nil && len(gvk.Kind) > 0:
		return nil, nil, fmt.Sprintf("%s in version %q cannot be handled as a Gizmo: %v", gvk.Kind, gvk.Version, err)
	}
	summary := "<empty>"
	if len(body) > 0 {
		text, dots := body[:min(30, len(body))], ""
		if len(body) > 30 {
			dots = " ..."
		}
		if summary = hex.EncodeToString(text) + dots; body[0] == '{' {
			summary = string(text) + dots
		}
	}
	return nil, nil, fmt.Sprintf("the object provided is unrecognized (must be of type Gizmo): %v (%s)", err, summary)
}

// Keys that differ from kind and apiVersion only in case are unknown fields.
func TestOddTypeKeys(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	obj := object(t, `{apiVersion: example.org/v1, kind: Gizmo, Kind: Gizmo, APIVERSION: v2, metadata: {name: g, namespace: d}, spec: {size: 1}}`)
	before := maps.Clone(obj)
	res, err := e.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{`unknown field "APIVERSION"`, `unknown field "Kind"`}; !res.Allowed || !slices.Equal(res.Warnings, want) {
		t.Errorf("got %v, %q", res.Failure, res.Warnings)
	}
	if !reflect.DeepEqual(obj, before) {
		t.Errorf("modified: %v", obj)
	}
}
