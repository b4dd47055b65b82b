package roundtrip_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// In v2, host and port are one field and there is no field "only". v3 equals v1.
const gadgets = `
metadata: {name: gadgets.g.test}
spec:
  group: g.test
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: &one
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {ready: {type: boolean}}}
          spec:
            type: object
            properties:
              host: {type: string, maxLength: 20}
              port: {type: integer, minimum: 1, maximum: 65535}
              only: {type: string, maxLength: 20}
              mode: {type: string, enum: [fast, slow], default: fast}
              list: {type: array, maxItems: 5, items: {type: string, maxLength: 9}}
              set: {type: array, maxItems: 5, x-kubernetes-list-type: set, items: {type: string, maxLength: 9}}
            x-kubernetes-validations:
            - {rule: "!has(self.port) || has(self.host)", message: a port needs a host}
  - name: v2
    served: true
    storage: false
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {ready: {type: boolean}}}
          spec:
            type: object
            properties:
              address: {type: object, properties: {host: {type: string, maxLength: 20}, port: {type: integer, minimum: 1, maximum: 65535}}}
              mode: {type: string, enum: [fast, slow], default: slow}
              list: {type: array, maxItems: 5, items: {type: string, maxLength: 9}}
              set: {type: array, maxItems: 5, x-kubernetes-list-type: set, items: {type: string, maxLength: 9}}
            x-kubernetes-validations:
            - {rule: "!has(self.address) || !has(self.address.port) || has(self.address.host)", message: a port needs a host}
  - name: v3
    served: true
    storage: false
    schema: *one
`

func gadgetCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(gadgets), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

const keeps = "g.test/only"

// lossless keeps data that v2 cannot represent in an annotation.
func lossless(obj map[string]any, to string) (map[string]any, error) {
	from := obj["apiVersion"].(string)
	obj["apiVersion"] = to
	spec, ok := obj["spec"].(map[string]any)
	meta := obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	if !ok || (from == "g.test/v2") == (to == "g.test/v2") {
		return obj, nil
	}
	if to == "g.test/v2" {
		address := map[string]any{}
		for _, name := range []string{"host", "port"} {
			if v, ok := spec[name]; ok {
				address[name] = v
				delete(spec, name)
			}
		}
		if len(address) > 0 {
			spec["address"] = address
		}
		if only, ok := spec["only"]; ok {
			if notes == nil {
				notes = map[string]any{}
			}
			notes[keeps] = only
			meta["annotations"] = notes
		}
		return obj, nil
	}
	if address, ok := spec["address"].(map[string]any); ok {
		if len(address) == 0 {
			return nil, errors.New("an empty address is none")
		}
		for name, v := range address {
			spec[name] = v
		}
	}
	if only, ok := notes[keeps]; ok {
		spec["only"] = only
		delete(notes, keeps)
	}
	return obj, nil
}

func spec(obj map[string]any) map[string]any {
	s, _ := obj["spec"].(map[string]any)
	if s == nil {
		s = map[string]any{}
	}
	return s
}

type convert func(obj map[string]any, to string) (map[string]any, error)

func spoilt(version string, change func(in, out map[string]any)) convert {
	return func(obj map[string]any, to string) (map[string]any, error) {
		in := runtime.DeepCopyJSON(obj)
		out, err := lossless(obj, to)
		if err == nil && to == "g.test/"+version {
			change(in, out)
		}
		return out, err
	}
}

var planted = map[string]struct {
	convert convert
	kind    roundtrip.Kind
	path    string
}{
	"dropped":     {spoilt("v2", func(_, out map[string]any) { delete(spec(out), "list") }), roundtrip.Dropped, "spec.list"},
	"dropped too": {spoilt("v2", func(_, out map[string]any) { delete(out, "status") }), roundtrip.Dropped, "status"},
	"rare": {spoilt("v2", func(in, out map[string]any) {
		if port, _ := spec(in)["port"].(int64); port > 1024 {
			delete(spec(out), "mode")
		}
	}), roundtrip.Dropped, "spec.mode"},
	"annotation": {spoilt("v2", func(_, out map[string]any) {
		meta := out["metadata"].(map[string]any)
		if notes, ok := meta["annotations"].(map[string]any); ok {
			delete(notes, "example.com/annotation")
		}
	}), roundtrip.Dropped, "metadata.annotations['example.com/annotation']"},
	"order": {spoilt("v2", func(_, out map[string]any) {
		if list, ok := spec(out)["list"].([]any); ok {
			slices.Reverse(list)
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
	}), roundtrip.Order, "spec.list"},
	"panicked": {spoilt("v2", func(in, _ map[string]any) { _ = len(spec(in)["host"].(string)) }), roundtrip.Panicked, ""},
	"invalid": {spoilt("v2", func(in, out map[string]any) {
		if spec(in)["only"] != nil {
			out["spec"].(map[string]any)["mode"] = "other"
		}
	}), roundtrip.Invalid, "spec.mode"},
	"wrong default": {spoilt("v1", func(_, out map[string]any) {
		if s, ok := out["spec"].(map[string]any); ok && s["set"] == nil {
			s["set"] = []any{}
		}
	}), roundtrip.Added, "spec.set"},
	"another": {spoilt("v2", func(in, out map[string]any) {
		if s, ok := out["spec"].(map[string]any); ok && spec(in)["mode"] == "slow" {
			s["mode"] = "fast"
		}
	}), roundtrip.Changed, "spec.mode"},
	"wrong kind": {spoilt("v2", func(_, out map[string]any) { out["kind"] = "Widget" }), roundtrip.Wrong, ""},
	// All of v1 is kept in an annotation and restored, even if v2 was changed since.
	"stale": {func(obj map[string]any, to string) (map[string]any, error) {
		const all = "g.test/all"
		before, from := runtime.DeepCopyJSON(obj), obj["apiVersion"]
		out, err := lossless(obj, to)
		if err != nil || out["spec"] == nil {
			return out, err
		}
		meta := out["metadata"].(map[string]any)
		notes, _ := meta["annotations"].(map[string]any)
		switch kept, ok := notes[all].(string); {
		case to == "g.test/v2":
			data, _ := json.Marshal(spec(before))
			if notes == nil {
				notes = map[string]any{}
			}
			notes[all] = string(data)
			meta["annotations"] = notes
		case ok && from == "g.test/v2":
			if out["spec"], err = engine.Decode([]byte(kept)); err != nil {
				return nil, err
			}
			delete(notes, all)
		}
		return out, nil
	}, roundtrip.Stale, ""},
	// Data is kept in the annotation only once.
	"second": {func(obj map[string]any, to string) (map[string]any, error) {
		const been = "g.test/been"
		out, err := lossless(obj, to)
		if err != nil {
			return nil, err
		}
		meta := out["metadata"].(map[string]any)
		notes, _ := meta["annotations"].(map[string]any)
		if notes == nil {
			notes = map[string]any{}
			meta["annotations"] = notes
		}
		if notes[been] != nil {
			delete(notes, keeps)
		}
		if to == "g.test/v1" {
			notes[been] = "true"
		}
		return out, nil
	}, roundtrip.Second, "spec.only"},
}

func test(t testing.TB, c convert, cfg roundtrip.Config) *roundtrip.Report {
	t.Helper()
	r, err := roundtrip.Test(t.Context(), gadgetCRD(t), conversion.Func(func(_ context.Context, obj map[string]any, to string) (map[string]any, error) {
		return c(obj, to)
	}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func effort() (seeds uint64, objects int) {
	if level.Long() {
		return 20, 10_000
	}
	return 1, 3_000
}

func TestPlanted(t *testing.T) {
	t.Parallel()
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds, _ := effort()
			for seed := range seeds {
				cfg := roundtrip.Config{Seed: seed}
				r := test(t, p.convert, cfg)
				i := slices.IndexFunc(r.Findings, func(f *roundtrip.Finding) bool {
					return f.Kind == p.kind && (p.path == "" || f.Path == p.path)
				})
				if i < 0 {
					t.Errorf("seed %d: want %s of %s, found %v", seed, p.kind, p.path, r.Findings)
					continue
				}
				f := r.Findings[i]
				if n := len(spec(f.Object)); n > 4 {
					t.Errorf("seed %d: %s is shown by %v: want it smaller", seed, f, f.Object)
				}
				first, _ := json.Marshal(r)
				if again, _ := json.Marshal(test(t, p.convert, cfg)); string(again) != string(first) {
					t.Errorf("seed %d: another report:\n%s\n%s", seed, first, again)
				}
			}
		})
	}
}

func TestLossless(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	_, objects := effort()
	r := test(t, func(obj map[string]any, to string) (map[string]any, error) {
		if a, ok := spec(obj)["address"].(map[string]any); ok && len(a) == 0 && to != "g.test/v2" {
			notes, _ := obj["metadata"].(map[string]any)["annotations"].(map[string]any)
			if notes == nil {
				notes = map[string]any{}
				obj["metadata"].(map[string]any)["annotations"] = notes
			}
			delete(spec(obj), "address")
			notes["g.test/address"] = "empty"
			return lossless(obj, to)
		}
		out, err := lossless(obj, to)
		notes, _ := out["metadata"].(map[string]any)["annotations"].(map[string]any)
		if notes["g.test/address"] != nil && to == "g.test/v2" {
			if delete(notes, "g.test/address"); spec(out)["address"] == nil && out["spec"] != nil {
				out["spec"].(map[string]any)["address"] = map[string]any{}
			}
		}
		return out, err
	}, roundtrip.Config{Objects: objects})
	if n := r.Objects(); n < 2*objects || len(r.Findings) > 0 {
		t.Errorf("%d trips: %v", n, r.Findings)
	}
	if len(r.Pairs) != 6 || r.Pairs[0].Role != "hub-spoke-hub" || r.Pairs[2].Role != "spoke-hub-spoke" || r.Pairs[3].Role != "spoke-spoke" {
		t.Errorf("%+v", r.Pairs)
	}
}

// The only error of the plain converter concerns empty addresses.
func TestIgnore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	drop := planted["dropped"].convert
	found := func(r *roundtrip.Report) (kinds []string) {
		for _, f := range r.Findings {
			kinds = append(kinds, fmt.Sprint(f.Kind, " ", f.Path))
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	}
	if got := found(test(t, drop, roundtrip.Config{Ignore: []string{"spec.list"}})); !slices.Equal(got, []string{"failed "}) {
		t.Errorf("found %v", got)
	}
	if _, err := roundtrip.Test(t.Context(), gadgetCRD(t), conversion.Func(nil), roundtrip.Config{Ignore: []string{"spec["}}); err == nil || err.Error() != `path "spec[": at "[": unclosed bracket` {
		t.Error(err)
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	r, err := roundtrip.Test(t.Context(), gadgetCRD(t), conversion.Func(func(ctx context.Context, obj map[string]any, to string) (map[string]any, error) {
		if spec(obj)["only"] != nil {
			<-ctx.Done()
		}
		return lossless(obj, to)
	}), roundtrip.Config{Objects: 30, Slow: 200 * time.Millisecond})
	if err != nil || !slices.ContainsFunc(r.Findings, func(f *roundtrip.Finding) bool {
		return f.Kind == roundtrip.Slow && strings.HasSuffix(f.Text, "no response within 200ms")
	}) {
		t.Errorf("%v, found %v", err, r)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	calls := 0
	nobody := conversion.Reviews(func(context.Context, []byte) ([]byte, error) {
		calls++
		return nil, errors.New("nobody there")
	})
	_, err := roundtrip.Test(t.Context(), gadgetCRD(t), nobody, roundtrip.Config{})
	var unknown *engine.NotCheckedError
	if !errors.As(err, &unknown) || calls > 5 {
		t.Errorf("asked %d times: %v", calls, err)
	}
	one := gadgetCRD(t)
	one.Spec.Versions = one.Spec.Versions[:1]
	if _, err := roundtrip.Test(t.Context(), one, nobody, roundtrip.Config{}); err == nil || err.Error() != "gadgets.g.test: nothing to convert (got only version v1, want two that are served or stored)" {
		t.Error(err)
	}
}

func TestPasswordsLost(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(strings.Replace(gadgets, "only: {type: string, maxLength: 20}", "only: {type: string, maxLength: 20, format: password}", 1)), crd); err != nil {
		t.Fatal(err)
	}
	trips, err := roundtrip.NewTrips(crd, conversion.None())
	if err != nil {
		t.Fatal(err)
	}
	found, err := trips.Trip(t.Context(), map[string]any{
		"apiVersion": "g.test/v1", "kind": "Gadget", "metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec": map[string]any{"only": "geheim", "mode": "fast"},
	}, "v2", nil)
	if err != nil || len(found) != 1 || found[0].Text != `spec.only is lost via v2 (was "(hidden)")` {
		t.Errorf("got %v, %v", found, err)
	}
}
