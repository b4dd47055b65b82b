package builtin_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/builtin"
)

func TestKubeMinor(t *testing.T) {
	pod := func() map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"containers": []any{map[string]any{
				"name": "a", "image": "a:1", "lifecycle": map[string]any{"preStop": map[string]any{"sleep": map[string]any{"seconds": int64(1)}}},
			}}},
		}
	}
	const unknown = `unknown field "spec.containers[0].lifecycle.preStop.sleep"`
	for _, tt := range []struct {
		name, validation string
		minor            int
		want             string // of the failure, or ""
		warning          string
	}{
		{"strict", "Strict", 28, `Pod in version "v1" cannot be handled as a Pod: strict decoding error: ` + unknown, ""},
		{"warn", "Warn", 28, `Pod "a" is invalid: spec.containers[0].lifecycle.preStop: Required value: must specify a handler type`, unknown},
		{"ignore", "Ignore", 28, `Pod "a" is invalid: spec.containers[0].lifecycle.preStop: Required value: must specify a handler type`, ""},
		{"introduced", "Strict", 29, "", ""},
		{"newest", "Strict", 0, "", ""},
	} {
		object := pod()
		res, err := builtin.Validate(t.Context(), builtin.Request{Object: object, FieldValidation: tt.validation, KubeMinor: tt.minor})
		if err != nil {
			t.Fatal(err)
		}
		got, warning := "", ""
		if res.Failure != nil {
			got = res.Failure.Message
		}
		if len(res.Warnings) > 0 {
			warning = res.Warnings[0]
		}
		if got != tt.want || warning != tt.warning {
			t.Errorf("%s: got %q, warning %q, want %q, warning %q", tt.name, got, warning, tt.want, tt.warning)
		}
		if _, ok := object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["lifecycle"].(map[string]any)["preStop"].(map[string]any)["sleep"]; !ok {
			t.Errorf("%s: the object has changed", tt.name)
		}
	}
}

func TestFieldIntroduced(t *testing.T) {
	deployment := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for path, want := range map[string]int{
		"spec.template.spec.containers[0].lifecycle.stopSignal":            33,
		"spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds": 29, // below a newer field
		"spec.template.spec.ephemeralContainers[0].restartPolicyRules":     34, // of an embedded struct
		"spec.replicas":          0,
		"spec.nothing":           0,
		"metadata.labels['a.b']": 0,
		"spec[":                  0,
		"":                       0,
	} {
		if got := builtin.FieldIntroduced(deployment, path); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}
