package apply_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

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

func TestNone(t *testing.T) {
	e, err := engine.Compile(crd(t), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := apply.NewWriter(crd(t), e)
	for _, old := range []map[string]any{nil, decode(t, fmt.Sprintf(live, ""))} {
		res, err := w.Validate(t.Context(), engine.Request{Object: decode(t, next), OldObject: old}, apply.Write{Kind: apply.None})
		if err != nil || !res.Allowed {
			t.Fatal(res, err)
		}
		want := map[string]any{"size": int64(2)}
		if old != nil {
			want = old["spec"].(map[string]any)
		}
		if diff := cmp.Diff(any(want), res.Object["spec"]); diff != "" {
			t.Error(diff)
		}
	}
}

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
