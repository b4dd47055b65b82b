package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestFailuresByMinor(t *testing.T) {
	t.Parallel()
	text := strings.Replace(scalable, "properties:\n              color:", "properties:\n              pod: {type: object, x-kubernetes-embedded-resource: true}\n              color:", 1)
	const (
		embedded = `Pool in version "v1" cannot be handled as a Pool: spec.pod.metadata: Invalid value: %s{"labels":%[1]s{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`
		scale    = `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:%d"`
	)
	pool := `{apiVersion: example.org/v1, kind: Pool, metadata: {name: a, namespace: d}, spec: %s}`
	for minor, want := range map[int][2]string{
		31: {fmt.Sprintf(embedded, "map[string]interface {}"), fmt.Sprintf(scale, 100)},
		33: {fmt.Sprintf(embedded, "map[string]interface {}"), fmt.Sprintf(scale, 110)},
		34: {fmt.Sprintf(embedded, ""), fmt.Sprintf(scale, 110)},
		37: {fmt.Sprintf(embedded, ""), fmt.Sprintf(scale, 111)},
	} {
		e, err := engine.Compile(crd(t, text), engine.Config{KubeVersion: fmt.Sprintf("1.%d", minor)})
		if err != nil {
			t.Fatal(err)
		}
		old := object(t, fmt.Sprintf(pool, `{nodes: {count: 1}}`))
		for i, req := range []engine.Request{
			{Object: object(t, fmt.Sprintf(pool, `{pod: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}}}}`))},
			{Object: object(t, `{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a, namespace: d}, spec: {replicas: x}}`), OldObject: old, Subresource: "scale"},
		} {
			res, err := e.Validate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure == nil || res.Failure.Message != want[i] {
				t.Errorf("1.%d: got %v, want %s", minor, res.Failure, want[i])
			}
		}
	}
}

// Before 1.37, the field manager fails on a spec of another type, so the server clears managedFields.
func TestManagedFieldsCleared(t *testing.T) {
	t.Parallel()
	const gizmo = `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, more: a, spec: {a: %s}}`
	for minor := 28; minor <= 37; minor++ {
		e, err := engine.Compile(crd(t, tracked), engine.Config{KubeVersion: fmt.Sprintf("1.%d", minor)})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Validate(t.Context(), engine.Request{
			Object: object(t, fmt.Sprintf(gizmo, "text")), OldObject: object(t, fmt.Sprintf(gizmo, "1")), Subresource: "status",
		})
		if err != nil || res.Allowed != (minor == 37) {
			t.Errorf("1.%d: self == oldSelf is %v (%v)", minor, res != nil && res.Allowed, err)
		}
	}
}
