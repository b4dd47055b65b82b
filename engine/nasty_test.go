package engine_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

func nested(depth int) map[string]any {
	v := map[string]any{}
	for range depth {
		v = map[string]any{"a": v}
	}
	return v
}

func TestNastyObjects(t *testing.T) {
	t.Parallel()
	items := make([]any, 100_000)
	for i := range items {
		items[i] = fmt.Sprintf("%x", i)
	}
	long := make([]any, 1_000) // quadratic in upstream's schema validation
	for i := range long {
		long[i] = fmt.Sprintf("too long %d", i)
	}
	same := make([]any, 100_000)
	for i := range same {
		same[i] = "x"
	}
	many := map[string]any{}
	for i := range 100_000 {
		many[fmt.Sprintf("k%d", i)] = int64(i % 10)
	}
	tests := []struct {
		name    string
		spec    map[string]any
		allowed bool
	}{
		{"10,000 deep and unknown", map[string]any{"size": int64(1), "x": nested(10_000)}, true},
		{"10,000 deep and kept", map[string]any{"size": int64(1), "any": nested(10_000)}, true},
		{"10,000 deep where a string should be", map[string]any{"size": int64(1), "color": nested(10_000)}, false},
		{"100,000 items that differ", map[string]any{"size": int64(1), "tags": items}, true},
		{"1,000 bad items", map[string]any{"size": int64(1), "tags": long}, false},
		{"100,000 equal items", map[string]any{"size": int64(1), "tags": same}, false},
		{"100,000 entries", map[string]any{"size": int64(1), "labels": many}, true},
		{"3 MiB of text", map[string]any{"size": int64(1), "note": strings.Repeat("x", 3<<20)}, true},
		{"invalid UTF-8", map[string]any{"size": int64(1), "note": "a\xffb"}, true},
		{"NUL", map[string]any{"size": int64(1), "note": "\x00"}, true},
		{"float", map[string]any{"size": 1.5}, false},
		{"whole float", map[string]any{"size": 1.0}, false},
	}
	e := mustCompile(t, widgets)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			obj := object(t, widget(`{}`))
			obj["spec"] = tt.spec
			for _, req := range []engine.Request{{Object: obj}, {Object: obj, OldObject: obj}} {
				res, err := e.Validate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				if req.OldObject == nil && res.Allowed != tt.allowed {
					t.Errorf("allowed %t, want %t: %.500s", res.Allowed, tt.allowed, res.Failure)
				}
			}
		})
	}
}

func TestNastyBodies(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	const head = `{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": `
	bodies := map[string]string{
		"arrays, 100,000 deep":  strings.Repeat("[", 100_000),
		"objects, 100,000 deep": strings.Repeat(`{"a":`, 100_000),
		"spec, 9,990 deep":      head + strings.Repeat(`{"a":`, 9_990) + "1" + strings.Repeat("}", 9_991),
		"spec, 20,000 deep":     head + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_001),
		"empty":                 "",
		"NUL bytes":             strings.Repeat("\x00", 1000),
		"NaN":                   head + `{"size": NaN}}`,
		"infinity":              head + `{"size": 1e999}}`,
		"kind that is a number": `{"kind": 1, "apiVersion": "example.org/v1"}`,
		"kind that is null":     `{"kind": null, "apiVersion": "example.org/v1"}`,
		"version with slashes":  `{"kind": "Widget", "apiVersion": "a/b/c"}`,
		"metadata of a string":  `{"kind": "Widget", "apiVersion": "example.org/v1", "metadata": "x", "spec": {"size": 1}}`,
		"metadata of wrong":     `{"kind": "Widget", "apiVersion": "example.org/v1", "metadata": {"labels": [1], "name": 5}, "spec": {"size": 1}}`,
		"spec of a string":      head + `"x"}`,
		"spec of null":          head + `null}`,
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, validation := range []string{"Strict", "Warn", "Ignore"} {
				res, err := e.Validate(t.Context(), engine.Request{Raw: []byte(body), FieldValidation: validation})
				if err != nil || res == nil {
					t.Fatalf("%s: got %v, %v", validation, res, err)
				}
				if res.Allowed != (res.Failure == nil) {
					t.Errorf("%s: allowed %t and %v", validation, res.Allowed, res.Failure)
				}
			}
		})
	}
}

func FuzzValidateRaw(f *testing.F) {
	const head = `{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": `
	for _, seed := range []string{head + `{"size": 1}}`, head + `{"size": 7, "tags": ["a", "a"], "labels": {"x": 11}}}`, `{}`, `{"kind": "Widget", "metadata": {"ownerReferences": [{}]}}`} {
		f.Add([]byte(seed), "", byte(0))
	}
	e := mustCompile(f, widgets)
	f.Fuzz(func(t *testing.T, body []byte, old string, flags byte) {
		req := engine.Request{Raw: body, FieldValidation: []string{"", "Strict", "Warn", "Ignore"}[flags%4]}
		if oldObj, err := engine.Decode([]byte(old)); err == nil {
			req.OldObject = oldObj
		}
		res, err := e.Validate(t.Context(), req)
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
		if err == nil && res.Allowed != (res.Failure == nil) {
			t.Errorf("allowed %t and %v", res.Allowed, res.Failure)
		}
	})
}

func FuzzRules(f *testing.F) {
	rules, err := engine.CompileRules(structural(f, `{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}}},
		m: {type: object, additionalProperties: {type: string, format: duration, x-kubernetes-validations: [{rule: "self > duration('1s')", messageExpression: "string(self)"}]}}, io: {x-kubernetes-int-or-string: true}},
		x-kubernetes-validations: [{rule: "self.a == oldSelf.a || self.io == oldSelf.io"}, {rule: "self.a.all(x, x.v < 9) && self.m.all(k, k != 'z')"}]}`), engine.Config{Subtree: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"a": [{"k": "x", "v": 1}], "m": {"a": "1h"}, "io": 5}`), []byte(`{"a": [], "io": "x"}`), int64(1000))
	f.Add([]byte(`{"a": [null, 1, {"k": {}}], "m": [], "io": 1.5}`), []byte(`{"a": [{"k": []}]}`), int64(10))
	f.Fuzz(func(t *testing.T, data, oldData []byte, budget int64) {
		obj, err := engine.Decode(data)
		if err != nil {
			return
		}
		old, _ := engine.Decode(oldData)
		errs, remaining := rules.Validate(t.Context(), field.NewPath("root"), obj, old, budget)
		again, remainingAgain := rules.Validate(t.Context(), field.NewPath("root"), obj, old, budget)
		if !reflect.DeepEqual(errs, again) || remaining != remainingAgain {
			t.Errorf("not the same twice: %v, %d and %v, %d", errs, remaining, again, remainingAgain)
		}
		for _, err := range errs {
			if err.Type == field.ErrorTypeInternal {
				t.Error(err)
			}
		}
		if budget > 0 && remaining > budget {
			t.Errorf("a budget of %d became %d", budget, remaining)
		}
	})
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	specs := []string{`{size: 1}`, `{size: 7}`, `{size: 700, labels: {a: 11, b: 1}}`, `{}`, `{size: 1, x: 1, tags: [a, b]}`, `{size: 3, any: {x: [1]}}`}
	requests := make([]engine.Request, 0, 2*len(specs))
	want := make([]*engine.Result, 0, 2*len(specs))
	for _, spec := range specs {
		obj := object(t, widget(spec))
		requests = append(requests, engine.Request{Object: obj, Trace: true}, engine.Request{Object: obj, OldObject: object(t, widget(`{size: 3, labels: {a: 11}}`))})
	}
	before := make([]engine.Request, len(requests))
	for i, req := range requests {
		before[i] = copyOf(req)
		res, err := e.Validate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, res)
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for round := range 10 {
				i := (worker + round) % len(requests)
				res, err := e.Validate(t.Context(), requests[i])
				if err != nil || !reflect.DeepEqual(res, want[i]) {
					t.Errorf("request %d: got %+v, %v, want %+v", i, res, err, want[i])
				}
				if n, err := e.At("", "spec"); err != nil {
					t.Error(err)
				} else if _, err := n.Compile("self.size > 0"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if !reflect.DeepEqual(requests, before) {
		t.Error("a request was modified")
	}
}

func TestRulesConcurrency(t *testing.T) {
	t.Parallel()
	s := structural(t, `{type: object, properties: {set: {type: array, x-kubernetes-list-type: set, items: {type: string}}, l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer}}}}},
		x-kubernetes-validations: [{rule: "self.set == oldSelf.set && self.l == oldSelf.l"}, {rule: "size(self.l + oldSelf.l) == 1", messageExpression: "'has ' + string(size(self.l + oldSelf.l))"}]}`)
	rules, err := engine.CompileRules(s, engine.Config{Subtree: true})
	if err != nil {
		t.Fatal(err)
	}
	obj, old := object(t, `{set: [a, b], l: [{k: a, v: 1}, {k: b, v: 2}]}`), object(t, `{set: [b, a], l: [{k: b, v: 2}, {k: a, v: 1}]}`)
	before := runtime.DeepCopyJSON(obj)
	want, remaining := rules.Validate(t.Context(), nil, obj, old, 1_000_000)
	if len(want) != 1 || !strings.Contains(want[0].Error(), "has 2") {
		t.Fatalf("got %v", want)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if errs, left := rules.Validate(t.Context(), nil, obj, old, 1_000_000); !reflect.DeepEqual(errs, want) || left != remaining {
					t.Errorf("got %v, %d, want %v, %d", errs, left, want, remaining)
				}
			}
		})
	}
	group.Wait()
	if !reflect.DeepEqual(obj, before) {
		t.Error("the object was modified")
	}
}
