package apply_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

// TestApplied compares the merge of plain objects with the libraries.
func TestApplied(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := rng.IntN(12); {
		case n < 5 && depth < 3:
			fields := map[string]any{}
			for range rng.IntN(4) {
				fields[string(rune('a'+rng.IntN(3)))] = value(depth + 1)
			}
			return fields
		case n < 6 && depth < 4:
			return []any{value(4), value(4)}
		case n < 8:
			return int64(rng.IntN(2))
		case n == 8 && rng.IntN(8) == 0:
			return []any{nil, 1.5, 1.0, int64(1)<<60 + 1}[rng.IntN(4)]
		}
		return []any{"x", "y", true}[rng.IntN(3)]
	}
	object := func() map[string]any {
		data, err := json.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "Gear", "metadata": map[string]any{"name": "a"}, "spec": value(0), "more": value(1)})
		if err != nil {
			t.Fatal(err)
		}
		return decode(t, string(data))
	}
	for range 5_000 {
		live, original, next := object(), object(), object()
		text, err := json.Marshal(original)
		if err != nil {
			t.Fatal(err)
		}
		live["metadata"].(map[string]any)["annotations"] = map[string]any{apply.LastApplied: string(text), "other": "x"}
		got, patched, err := apply.Applied(live, next)
		patch, patchErr := apply.Patch(live, next, nil)
		if (err == nil) != (patchErr == nil) || (got == nil) != (patch == nil) {
			t.Fatalf("%v, %v, %v: got %v %v, want %s %v", live, original, next, got, err, patch, patchErr)
		}
		if got == nil {
			continue
		}
		want, err := apply.Patched(live, patch, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := patched()
		if err != nil || string(data) != string(want) {
			t.Fatalf("%v, %v, %v: got %s %v, want %s", live, original, next, data, err, want)
		}
		if decoded, err := engine.Decode(want); err != nil || !reflect.DeepEqual(decoded, got) {
			t.Fatalf("%v, %v, %v: got %v, want %v %v", live, original, next, got, decoded, err)
		}
	}
}

// BenchmarkApplied compares the two ways of a client-side apply.
func BenchmarkApplied(b *testing.B) {
	spec := map[string]any{"schedule": "0 2 * * *", "replicas": int64(2), "env": []any{map[string]any{"name": "A", "value": "x"}}}
	object := func(image string) map[string]any {
		fields := maps.Clone(spec)
		fields["image"] = image
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Gear", "metadata": map[string]any{"name": "a", "namespace": "b"}, "spec": fields}
	}
	text, err := json.Marshal(object("a:1"))
	if err != nil {
		b.Fatal(err)
	}
	live, next := object("a:1"), object("a:2")
	live["metadata"].(map[string]any)["annotations"] = map[string]any{apply.LastApplied: string(text)}
	b.Run("one pass", func(b *testing.B) {
		for b.Loop() {
			if got, _, err := apply.Applied(live, next); got == nil || err != nil {
				b.Fatal(got, err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			patch, err := apply.Patch(live, next, nil)
			if err != nil {
				b.Fatal(err)
			}
			data, err := apply.Patched(live, patch, nil)
			if err == nil {
				_, err = engine.Decode(data)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

const listSchema = `{type: object, properties: {status: {type: object, x-kubernetes-preserve-unknown-fields: true}, spec: {type: object, properties: {
  mode: {type: string, default: fast}, note: {type: string, nullable: true}, size: {type: number},
  labels: {type: object, additionalProperties: {type: string}},
  atom: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}, b: {type: string}}},
  free: {type: object, x-kubernetes-preserve-unknown-fields: true},
  words: {type: array, x-kubernetes-list-type: set, items: {type: string}},
  plain: {type: array, items: {type: string}},
  parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name],
    properties: {name: {type: string}, kind: {type: string, default: bolt}, count: {type: integer}, tags: {type: array, items: {type: string}}}}}}}}}`

// listSpec returns a random spec of listSchema with some of the fields.
func listSpec(rng *rand.Rand, fields []string) map[string]any {
	pick := func(values ...any) any { return values[rng.IntN(len(values))] }
	part := func(name string) any {
		p := map[string]any{"name": name}
		if rng.IntN(3) == 0 {
			p["count"] = int64(rng.IntN(2))
		}
		if rng.IntN(4) == 0 {
			p["tags"] = []any{pick("x", "y")}
		}
		return p
	}
	spec := map[string]any{}
	for _, field := range fields {
		spec[field] = map[string]func() any{
			"mode": func() any { return pick("fast", "slow") },
			"note": func() any { return pick("n", "m", nil) },
			"size": func() any { return pick(int64(1), 1.0, 1.5) },
			"labels": func() any {
				return pick(map[string]any{}, map[string]any{"a": pick("1", "2"), "b": "1"}, map[string]any{"a": "1"})
			},
			"atom":  func() any { return map[string]any{pick("a", "b").(string): pick("1", "2")} },
			"free":  func() any { return map[string]any{"a": pick("1", int64(2), []any{int64(1)}, map[string]any{"c": 1.5})} },
			"words": func() any { return pick([]any{"a", "b"}, []any{"b", "a"}, []any{"a"}, []any{}, []any{"a", "a"}) },
			"plain": func() any { return pick([]any{"a"}, []any{"b", "a"}, []any{}) },
			"parts": func() any { return pick([]any{part("a"), part("b")}, []any{part("b"), part("a")}, []any{part("a")}) },
		}[field]()
	}
	return spec
}

// TestMerged compares the merge without pruning with that of the library.
func TestMerged(t *testing.T) {
	crd, schema := crd(t), &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(listSchema), schema); err != nil {
		t.Fatal(err)
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema = schema
	managers, rng := apply.NewManagers(crd), rand.New(rand.NewPCG(61, 2))
	all := []string{"mode", "note", "size", "labels", "atom", "free", "words", "plain", "parts"}
	some := func() []string {
		return slices.DeleteFunc(slices.Clone(all), func(string) bool { return rng.IntN(2) == 0 })
	}
	object := func(fields []string) map[string]any {
		meta := map[string]any{"name": "a", "namespace": "b"}
		if rng.IntN(3) == 0 {
			meta["labels"] = map[string]any{"l": fmt.Sprint(rng.IntN(2))}
		}
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Gear", "metadata": meta, "spec": listSpec(rng, fields)}
	}
	unpruned := 0
	for range 2_000 {
		fields := some()
		live, status, err := managers.Merge(nil, object(fields), "v1", "", apply.Write{Manager: "kubectl"})
		if status != nil || err != nil { // duplicates in a set
			continue
		}
		if rng.IntN(2) == 0 {
			live = changed(t, managers, live, listSpec(rng, some()))
		}
		if rng.IntN(4) == 0 {
			fields = some()
		}
		next, w := object(fields), apply.Write{Manager: "kubectl", Force: rng.IntN(2) == 0}
		was := runtime.DeepCopyJSON(live)
		want, wantStatus, wantErr := managers.Merge(live, next, "v1", "", w)
		got, gotStatus, gotErr := managers.Merged(live, next, "v1", w)
		if gotStatus == nil && len(apply.Managed(got)) == 0 {
			unpruned++
		}
		for _, o := range []map[string]any{got, want} {
			unstructured.RemoveNestedField(o, "metadata", "managedFields")
		}
		if diff := cmp.Diff(want, got); diff != "" || !reflect.DeepEqual(wantStatus, gotStatus) || (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("%v, %v, %v: -want +got: %s, %v %v, %v %v", live, next, w, diff, wantStatus, gotStatus, wantErr, gotErr)
		}
		if diff := cmp.Diff(was, live); diff != "" {
			t.Fatalf("live is modified: %s", diff)
		}
	}
	if unpruned < 300 {
		t.Errorf("got %d merges without pruning, want at least 300", unpruned)
	}
}

// changed returns an object after a controller has updated it.
func changed(t *testing.T, managers *apply.Managers, live, spec map[string]any) map[string]any {
	t.Helper()
	manager, err := managers.Manager("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	was := &unstructured.Unstructured{Object: live}
	is := was.DeepCopy()
	if fields, ok := is.Object["spec"].(map[string]any); ok {
		maps.Copy(fields, spec)
	}
	out, err := manager.Update(was.DeepCopy(), is, "controller")
	if err != nil {
		t.Fatal(err)
	}
	return out.(*unstructured.Unstructured).Object
}

// BenchmarkMerged compares the two ways of a server-side apply that changes a field.
func BenchmarkMerged(b *testing.B) {
	live, next := decode(b, fmt.Sprintf(live, "")), decode(b, next)
	meta := live["metadata"].(map[string]any)
	delete(meta, "annotations")
	meta["managedFields"] = []any{map[string]any{
		"manager": "kubectl", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
		"time": "2024-01-01T00:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:size": map[string]any{}}},
	}}
	managers, w := apply.NewManagers(crd(b)), apply.Write{Manager: "kubectl"}
	b.Run("unpruned", func(b *testing.B) {
		for b.Loop() {
			if _, status, err := managers.Merged(live, next, "v1", w); status != nil || err != nil {
				b.Fatal(status, err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, status, err := managers.Merge(live, next, "v1", "", w); status != nil || err != nil {
				b.Fatal(status, err)
			}
		}
	})
}

// TestMigrated checks that fields of client-side apply are removed with the first server-side apply.
func TestMigrated(t *testing.T) {
	e, err := engine.Compile(crd(t), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	old := decode(t, fmt.Sprintf(live, `{"spec":{"size":1,"other":"x"}}`))
	old["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
		"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "time": "2024-01-01T00:00:00Z",
		"fieldsV1": map[string]any{
			"f:metadata": map[string]any{"f:annotations": map[string]any{".": map[string]any{}, "f:" + apply.LastApplied: map[string]any{}}},
			"f:spec":     map[string]any{".": map[string]any{}, "f:size": map[string]any{}, "f:other": map[string]any{}},
		},
	}}
	for manager, want := range map[string]any{"kubectl": map[string]any{"size": int64(2)}, "kustomize-controller": map[string]any{"size": int64(2), "other": "x"}} {
		w := apply.Write{Kind: apply.Server, Manager: manager, Force: true}
		res, err := apply.NewWriter(crd(t), e).Validate(t.Context(), engine.Request{Object: decode(t, next), OldObject: old}, w)
		if err != nil || !res.Allowed {
			t.Fatal(res, err)
		}
		if diff := cmp.Diff(want, res.Object["spec"]); diff != "" {
			t.Errorf("%s: %s", manager, diff)
		}
		if kept := apply.Annotation(res.Object, apply.LastApplied) != ""; !kept {
			t.Errorf("%s: the annotation is removed", manager)
		}
	}
}
