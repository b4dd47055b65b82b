package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
)

const fixableCRD = `
metadata: {name: apps.example.org}
spec:
  group: example.org
  names: {kind: App, plural: apps, singular: app}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'bad'", message: bad name}
        - {rule: "!has(self.spec.mode) || self.spec.mode != 'a' || self.metadata.name != 'bad'", message: bad name in mode a}
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "self.size < 7", messageExpression: "'size is ' + string(self.size) + (has(self.max) ? ' of ' + string(self.max) : '')"}
            - {rule: "!has(self.items) || self.items.all(i, !has(i.port) || i.port < 9)", message: port too large}
            - {rule: "!has(self.labels) || size(self.labels) < 3", message: many labels}
            - {rule: "!has(self.mode) || self.mode != 'b' || self.?max.orValue(0) > 3", message: mode b needs max}
            - {rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: min above max, fieldPath: .min}
            - {rule: "size(self.items) > 0", message: "fails without items"}
            properties:
              size: {type: integer}
              min: {type: integer}
              max: {type: integer}
              mode: {type: string, enum: [a, b]}
              name: {type: string, maxLength: 3, x-kubernetes-validations: [{rule: "self != 'no'", message: is no}, {rule: "self == oldSelf || self != 'old'", message: is old}]}
              labels: {type: object, additionalProperties: {type: string, maxLength: 3, x-kubernetes-validations: [{rule: "self != 'no'", message: is no}]}}
              items:
                type: array
                maxItems: 3
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items:
                  type: object
                  required: [key]
                  x-kubernetes-validations:
                  - {rule: "!has(self.port) || self.port > 1", message: port too small}
                  - {rule: "!has(self.sub) || !has(self.sub.a) || self.sub.a == 'x'", message: a is not x}
                  - {rule: "self.key == oldSelf.key && self.port >= oldSelf.port", message: port got smaller}
                  properties:
                    key: {type: string, maxLength: 2}
                    port: {type: integer}
                    sub: {type: object, properties: {a: {type: string, maxLength: 1}, b: {type: string, maxLength: 1}}, x-kubernetes-validations: [{rule: "!has(self.b) || self.b == 'y'", message: b is not y}]}
`

// If broken is set, some values are invalid or missing.
func randomApp(r *rand.Rand, broken bool) map[string]any {
	pick := func(good, bad []any) any {
		if broken && r.IntN(8) == 0 {
			return bad[r.IntN(len(bad))]
		}
		return good[r.IntN(len(good))]
	}
	number := func() any { return pick([]any{int64(0), int64(2), int64(5), int64(8), int64(9)}, []any{"x", true}) }
	text := func(good ...any) any { return pick(good, []any{"long text", int64(1)}) }
	spec := map[string]any{"size": number(), "min": number(), "max": number(), "mode": pick([]any{"a", "b"}, []any{"c", int64(1)}), "name": text("ok", "no", "old")}
	labels := map[string]any{}
	for _, key := range []string{"a", "b", "a.b", "0", "x/y"} {
		if r.IntN(2) == 0 {
			labels[key] = text("v", "no")
		}
	}
	spec["labels"] = labels
	var items []any
	keys := []string{"p", "q", "r", "s"}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range keys[:r.IntN(3)+r.IntN(2)] {
		item := map[string]any{"key": text(key), "port": number(), "sub": map[string]any{"a": text("x", "z"), "b": text("y", "z")}}
		for _, name := range []string{"port", "sub", "key"} {
			if r.IntN(6) == 0 && (name != "key" || broken) {
				delete(item, name)
			}
		}
		items = append(items, item)
	}
	spec["items"] = items
	for _, name := range []string{"size", "min", "max", "mode", "name", "labels", "items"} {
		if r.IntN(6) == 0 && (name != "size" || broken) {
			delete(spec, name)
		}
	}
	return map[string]any{"apiVersion": "example.org/v1", "kind": "App", "metadata": map[string]any{"name": []any{"good", "bad"}[r.IntN(2)], "namespace": "d"}, "spec": spec}
}

// An announced cause must be reported once the invalid values are replaced, whatever the valid values are.
func TestFollowing(t *testing.T) {
	t.Parallel()
	n := 2000
	if testing.Short() {
		n = 300
	}
	for _, kube := range []string{"1.28", "1.31", ""} {
		e, err := engine.Compile(crd(t, fixableCRD), engine.Config{KubeVersion: kube})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		announced, kept, silent := 0, 0, 0
		for range n {
			req := engine.Request{Object: randomApp(r, true)}
			if r.IntN(2) == 0 {
				req.OldObject = randomApp(r, false)
				if r.IntN(2) == 0 { // many values are unchanged
					req.OldObject["spec"] = runtime.DeepCopyJSON(req.Object)["spec"]
					fixAll(t, e, r, req.OldObject, nil)
				}
			}
			res, err := e.Validate(t.Context(), req)
			if err != nil || res.Allowed {
				continue
			}
			following, err := res.Following(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(following) == 0 {
				silent++
			}
			announced += len(following)
			for range 3 {
				fixed := req
				fixed.Object = runtime.DeepCopyJSON(req.Object)
				causes := fixAll(t, e, r, fixed.Object, req.OldObject)
				for _, c := range following {
					if slices.ContainsFunc(causes, func(o engine.Cause) bool {
						return o.Field == c.Field && o.Message == c.Message && o.Reason == c.Reason && o.Rule != nil && *o.Rule == *c.Rule
					}) {
						kept++
						continue
					}
					t.Fatalf("Kubernetes %s: announced %s: %s\nobject %v\nold    %v\nfixed  %v\ncauses %s", kube, c.Field, c.Message, req.Object, req.OldObject, fixed.Object, causesText(causes))
				}
			}
		}
		t.Logf("Kubernetes %s: %d causes announced, %d found after fixes, %d objects without", kube, announced, kept, silent)
		if announced < n/3 {
			t.Errorf("only %d causes announced", announced)
		}
	}
}

func fixAll(t *testing.T, e *engine.Engine, r *rand.Rand, obj, old map[string]any) []engine.Cause {
	t.Helper()
	for range 20 {
		res, err := e.Validate(t.Context(), engine.Request{Object: obj, OldObject: old})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Causes, func(c engine.Cause) bool { return strings.HasPrefix(c.Detail, "some validation rules") }) {
			return res.Causes
		}
		for _, c := range res.Causes {
			if c.Rule == nil && c.Field != "<nil>" {
				replaceValue(t, r, obj, c)
			}
		}
	}
	t.Fatalf("cannot be fixed: %v", obj)
	return nil
}

func replaceValue(t *testing.T, r *rand.Rand, obj map[string]any, c engine.Cause) {
	t.Helper()
	fresh := randomApp(r, false)["spec"].(map[string]any)
	spec := obj["spec"].(map[string]any)
	texts := []any{"v", "no", "y"}
	text := texts[r.IntN(len(texts))]
	field := strings.TrimPrefix(c.Field, "spec.")
	switch {
	case strings.HasPrefix(field, "labels"):
		key := strings.Trim(strings.TrimPrefix(field, "labels"), ".[]")
		spec["labels"].(map[string]any)[key] = text
	case field == "items":
		spec["items"] = spec["items"].([]any)[r.IntN(2):][:r.IntN(3)]
	case strings.HasPrefix(field, "items["):
		var at int
		if _, err := fmt.Sscanf(field, "items[%d]", &at); err != nil {
			t.Fatal(c.Field, err)
		}
		item := spec["items"].([]any)[at].(map[string]any)
		switch name := field[strings.LastIndexAny(field, ".]")+1:]; name {
		case "key", "":
			item["key"] = fmt.Sprint("p", r.IntN(9)) // or a key of the old object
			if r.IntN(2) == 0 {
				item["key"] = []any{"p", "q", "r", "s"}[r.IntN(4)]
			}
		case "port":
			item["port"] = int64(r.IntN(10))
		default:
			item["sub"].(map[string]any)[name] = []any{"x", "y", "z"}[r.IntN(3)]
		}
	default:
		if spec[field] = fresh[field]; spec[field] == nil {
			spec[field] = map[string]any{"size": int64(r.IntN(9)), "min": int64(r.IntN(9)), "max": int64(r.IntN(9)), "mode": "b", "name": "no"}[field]
		}
	}
}

func causesText(causes []engine.Cause) string {
	var lines []string
	for _, c := range causes {
		lines = append(lines, c.Field+": "+c.Message)
	}
	return strings.Join(lines, "\n       ")
}
