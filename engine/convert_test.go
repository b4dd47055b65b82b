package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// A pair is two fields in v1, which is the storage version, and one string in v2.
const pairCRD = `
metadata: {name: pairs.pair.test}
spec:
  group: pair.test
  scope: Cluster
  names: {plural: pairs, kind: Pair}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://never.invalid/"}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}, b: {type: string}, c: {type: string, default: one}}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      ab: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}, c: {type: string}, d: {type: string, default: two}}}}}}
`

// convertPair converts a pair between versions. It drops the field d.
func convertPair(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
	spec, _ := obj["spec"].(map[string]any)
	out := map[string]any{"unknown": true}
	if c, ok := spec["c"]; ok {
		out["c"] = c
	}
	if apiVersion == "pair.test/v1" {
		a, b, ok := strings.Cut(spec["ab"].(string), "+")
		if !ok {
			return nil, errors.New("ab has no plus")
		}
		out["a"], out["b"] = a, b
	} else {
		out["ab"] = spec["a"].(string) + "+" + spec["b"].(string)
	}
	return map[string]any{"apiVersion": apiVersion, "kind": "Pair", "metadata": map[string]any{"name": "a"}, "spec": out}, nil
}

func pairEngine(t *testing.T, c engine.Converter) *engine.Engine {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(pairCRD), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{Converter: c})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func pair(t *testing.T, version, spec string) map[string]any {
	t.Helper()
	obj := map[string]any{}
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: pair.test/" + version + ", kind: Pair, metadata: {name: a}, spec: " + spec + "}"))
	if err == nil {
		obj, err = engine.Decode(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestConverterOnTheWayToStorage(t *testing.T) {
	t.Parallel()
	e := pairEngine(t, conversion.Func(convertPair))
	res, err := e.Validate(t.Context(), engine.Request{Object: pair(t, "v2", "{ab: x+w}")})
	if err != nil || !res.Allowed {
		t.Fatal(res, err)
	}
	// v1's default is added when the object is read. v2's default was added before the conversion
	// and is not added again.
	want := pair(t, "v1", "{a: x, b: w}")
	if d := cmp.Diff(want["spec"], res.Stored["spec"]); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	if d := cmp.Diff(pair(t, "v2", "{ab: x+w, c: one}")["spec"], res.Object["spec"]); d != "" {
		t.Errorf("read (-want +got):\n%s", d)
	}
	res, err = e.Validate(t.Context(), engine.Request{Object: pair(t, "v1", "{a: x, b: w}")})
	if d := cmp.Diff(pair(t, "v1", "{a: x, b: w, c: one}")["spec"], res.Stored["spec"]); err != nil || d != "" {
		t.Errorf("stored in its own version: %v (-want +got):\n%s", err, d)
	}
	for version, spec := range map[string]string{"v1": "{a: x, b: w, c: one}", "v2": "{ab: x+w, c: one}"} {
		got, err := e.Convert(t.Context(), pair(t, "v2", "{ab: x+w}"), version)
		if d := cmp.Diff(pair(t, version, spec)["spec"], got["spec"]); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	}
}

func TestConverterOfTheOldObject(t *testing.T) {
	t.Parallel()
	e := pairEngine(t, conversion.Func(convertPair))
	for spec, allowed := range map[string]bool{"{ab: x+w, c: new}": true, "{ab: x+z}": false} {
		res, err := e.Validate(t.Context(), engine.Request{Object: pair(t, "v2", spec), OldObject: pair(t, "v1", "{a: x, b: w}")})
		if err != nil || res.Allowed != allowed {
			t.Errorf("%s: %v, %v", spec, res, err)
		}
	}
}

func TestConverterFails(t *testing.T) {
	t.Parallel()
	e := pairEngine(t, conversion.Func(convertPair))
	const message = "conversion webhook for pair.test/v2, Kind=Pair failed: ab has no plus"
	bad := pair(t, "v2", "{ab: x}")
	for name, req := range map[string]engine.Request{
		"new": {Object: bad},
		"old": {Object: pair(t, "v1", "{a: x, b: w}"), OldObject: bad},
	} {
		res, err := e.Validate(t.Context(), req)
		if err != nil || res.Allowed || res.Object != nil || res.Failure.Code != 500 || res.Failure.Message != message {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
	if _, err := e.Convert(t.Context(), bad, "v1"); err == nil || err.Error() != message {
		t.Error(err)
	}
	none := pairEngine(t, conversion.Func(func(context.Context, map[string]any, string) (map[string]any, error) { panic("oh") }))
	var unknown *engine.NotCheckedError
	if _, err := none.Validate(t.Context(), engine.Request{Object: bad}); !errors.As(err, &unknown) {
		t.Error(err)
	}
	// In the storage version, no converter is needed.
	if res, err := none.Validate(t.Context(), engine.Request{Object: pair(t, "v1", "{a: x}")}); err != nil || !res.Allowed {
		t.Error(res, err)
	}
	without := pairEngine(t, nil)
	if res, err := without.Validate(t.Context(), engine.Request{Object: bad}); err != nil || !res.Allowed {
		t.Error(res, err)
	}
	if _, err := without.Convert(t.Context(), bad, "v1"); !errors.As(err, &unknown) {
		t.Error(err)
	}
	for _, req := range []engine.Request{{Object: bad, OldObject: pair(t, "v1", "{}")}} {
		if _, err := without.Validate(t.Context(), req); !errors.As(err, &unknown) {
			t.Error(err)
		}
	}
}
