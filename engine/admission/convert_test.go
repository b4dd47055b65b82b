package admission_test

import (
	"context"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// A write is also rejected if the converter does not respond, because a client that blocks the converter must not
// bypass the rules.
func TestConverter(t *testing.T) {
	t.Parallel()
	const failed = "conversion webhook for example.com/v1, Kind=Widget failed: "
	for name, test := range map[string]struct {
		convert func(obj map[string]any, to string) (map[string]any, error)
		verdict admission.Verdict
		text    string
	}{
		"converts": {func(obj map[string]any, to string) (map[string]any, error) { obj["apiVersion"] = to; return obj, nil }, admission.Allowed, ""},
		"refuses":  {func(map[string]any, string) (map[string]any, error) { return nil, errors.New("no") }, admission.Rejected, failed + "no"},
		"panics":   {func(map[string]any, string) (map[string]any, error) { panic("oh") }, admission.Undecided, "celadon: undecided: " + failed + "the converter panicked: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crd := widgetCRD(t, "10")
			stored := crd.Spec.Versions[0].DeepCopy()
			stored.Name = "v2"
			crd.Spec.Versions[0].Storage = false
			crd.Spec.Versions = append(crd.Spec.Versions, *stored)
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
			c := conversion.Func(func(_ context.Context, obj map[string]any, to string) (map[string]any, error) {
				return test.convert(obj, to)
			})
			set := admission.NewSet(admission.Config{Mode: admission.Enforce, Engine: engine.Config{Converter: c}})
			if err := set.Put(crd); err != nil {
				t.Fatal(err)
			}
			d, err := set.Validate(t.Context(), create(`"spec":{"size":3}`))
			if err != nil || d.Verdict != test.verdict {
				t.Fatalf("got %+v, %v, want %s", d, err, test.verdict)
			}
			switch {
			case d.Verdict == admission.Rejected && (d.Response.Allowed || d.Response.Result.Code != 500 || d.Response.Result.Message != test.text):
				t.Errorf("got %+v, want %s", d.Response.Result, test.text)
			case d.Verdict == admission.Undecided && (d.Response.Allowed || d.Response.Result.Code != 504 || d.Response.Result.Message != test.text || d.Response.AuditAnnotations[admission.AuditReason] != "undecided: the converter does not respond"):
				t.Errorf("got %+v, want %s", d.Response, test.text)
			}
			if d, err := set.Mutate(t.Context(), create(`"spec":{"size":3}`)); err != nil || d.Verdict != admission.Allowed {
				t.Errorf("mutate, which converts nothing: %+v, %v", d, err)
			}
		})
	}
}
