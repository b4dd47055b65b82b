package engine_test

import (
	"reflect"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const defaultingCRD = `
metadata: {name: apps.example.org}
spec:
  group: example.org
  names: {kind: App, plural: apps, singular: app}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, default: {phase: new}, properties: {phase: {type: string}}}
          spec:
            type: object
            default: {}
            x-kubernetes-validations: [{rule: self.size < 7}]
            properties:
              size: {type: integer, default: 3}
              kept: {type: object, x-kubernetes-preserve-unknown-fields: true}
              limits: {type: object, default: {cpu: 1}, properties: {cpu: {type: integer}, memory: {type: integer, default: 2}}}
              items: {type: array, items: {type: object, default: {a: x}, properties: {a: {type: string, default: y}, b: {type: string}}}}
`

// TestInPlace checks that the result is the same if the engine may modify the object.
func TestInPlace(t *testing.T) {
	t.Parallel()
	e, err := engine.Compile(crd(t, defaultingCRD), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const old = `{"apiVersion":"example.org/v1","kind":"App","metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"1"},"spec":{"size":1},"status":{"phase":"old"}}`
	for _, spec := range []string{
		`{}`, `null`, `{"size":6}`, `{"size":9}`, `{"size":null,"limits":null}`, `{"limits":{"memory":5}}`, `{"items":[null,{},{"a":"z","b":null},{"c":{"d":1}}]}`,
		`{"kept":{"x":{"y":null}},"unknown":{"a":1}}`, `{"size":"text"}`, `{"size":7,"unknown":1,"items":[{"c":1,"d":2}]}`, `[]`,
	} {
		for _, validation := range []string{"Strict", "Warn", "Ignore"} {
			for _, update := range []bool{false, true} {
				decode := func(text string) map[string]any {
					obj, err := engine.Decode([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					return obj
				}
				request := func() engine.Request {
					req := engine.Request{FieldValidation: validation, Object: decode(`{"apiVersion":"example.org/v1","kind":"App","metadata":{"name":"a"},"other":1,"status":{"phase":"sent"},"spec":` + spec + `}`)}
					if update {
						req.OldObject = decode(old)
					}
					return req
				}
				want, err := e.Validate(t.Context(), request())
				if err != nil {
					t.Fatal(err)
				}
				req := request()
				req.InPlace = true
				got, err := e.Validate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if got.Allowed != want.Allowed || got.Cost != want.Cost || !reflect.DeepEqual(got.Object, want.Object) || !reflect.DeepEqual(got.Failure, want.Failure) || !reflect.DeepEqual(got.Causes, want.Causes) || !reflect.DeepEqual(got.Warnings, want.Warnings) {
					t.Errorf("%s %s, update %v:\ngot  %+v\nwant %+v", spec, validation, update, got, want)
				}
			}
		}
	}
}

// TestInPlaceWrongType checks that values which are not decoded JSON are still found.
func TestInPlaceWrongType(t *testing.T) {
	t.Parallel()
	e, err := engine.Compile(crd(t, defaultingCRD), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []map[string]any{{"size": 1}, {"unknown": 1}, {"unknown": map[string]any{"a": 1}, "other": "text"}, {"kept": []string{}}} {
		obj := map[string]any{"apiVersion": "example.org/v1", "kind": "App", "metadata": map[string]any{"name": "a"}, "spec": spec}
		if res, err := e.Validate(t.Context(), engine.Request{Object: obj, InPlace: true}); err == nil {
			t.Errorf("%v: got %+v, want an error", spec, res)
		}
	}
}
