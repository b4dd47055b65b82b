package admission_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/admission"
)

// expensive creates a string whose length is the square of the image's length.
var expensive = strings.Replace(strings.ReplaceAll(widgets, "LIMIT", "10"), `type: string
                x-kubernetes-validations: [`, `type: string
                x-kubernetes-validations: [{rule: "self.replace('', self).size() > 0 || true"}, `, 1)

func TestUndecided(t *testing.T) {
	t.Parallel()
	const why = "undecided: spec.image: x-kubernetes-validations[0].rule: call of replace: it would allocate over 96 MiB of memory: self.replace('', self).size() > 0 || true"
	req := create(`"spec":{"image":"` + strings.Repeat("x", 100_000) + `"}`)
	for _, unknown := range []admission.Unknown{admission.AllowUnknown, admission.RejectUnknown} {
		for mode, want := range map[admission.Mode]admissionv1.AdmissionResponse{
			admission.Enforce: {Result: &metav1.Status{Status: "Failure", Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "celadon: " + why}},
			admission.Warn:    {Allowed: true, Warnings: []string{"celadon: " + why}},
			admission.Audit:   {Allowed: true},
		} {
			set := admission.NewSet(admission.Config{Mode: mode, Unknown: unknown})
			if err := set.Put(crdOf(t, expensive)); err != nil {
				t.Fatal(err)
			}
			want.UID = req.UID
			want.AuditAnnotations = map[string]string{"crd": "widgets.example.com", "verdict": "undecided", "reason": why}
			d, err := set.Validate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, d.Response); diff != "" || d.Verdict != admission.Undecided || d.CRD != "widgets.example.com" || d.Result != nil || d.RejectedBy() != nil {
				t.Errorf("%s: verdict %s of %q (-want +got):\n%s", mode, d.Verdict, d.CRD, diff)
			}
			for body, verdict := range map[string]admission.Verdict{`"spec":{"image":"x"}`: admission.Allowed, `"spec":{"size":30}`: admission.Rejected} {
				if d, err := set.Validate(t.Context(), create(body)); err != nil || d.Verdict != verdict {
					t.Errorf("%s: %s in another object: %+v, %v", mode, body, d, err)
				}
			}
			if d, err := set.Mutate(t.Context(), req); err != nil || d.Verdict != admission.Allowed {
				t.Errorf("%s: mutate, which runs no rules: %+v, %v", mode, d, err)
			}
		}
	}
}

func TestRequestTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, change := range map[string]func(*admissionv1.AdmissionRequest){
		"kind":        func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = long },
		"subresource": func(r *admissionv1.AdmissionRequest) { r.SubResource = long },
		"operation":   func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Operation(long) },
	} {
		for _, mode := range []admission.Mode{admission.Enforce, admission.Warn} {
			d, err := widgetSet(t, admission.Config{Mode: mode, Unknown: admission.RejectUnknown}).Validate(t.Context(), with(create(""), change))
			if text := fmt.Sprint(err); err != nil && len(text) > 1000 {
				t.Errorf("%s: an error of %d bytes", name, len(text))
			}
			if err == nil && len(asJSON(d.Response)) > 1000 {
				t.Errorf("%s: an answer of %d bytes", name, len(asJSON(d.Response)))
			}
		}
	}
	_, err := admission.RequestOf(&admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{Kind: long}})
	if text := fmt.Sprint(err); len(text) > 1000 {
		t.Errorf("review: an error of %d bytes", len(text))
	}
}

// The limit also applies to few causes with long messages.
func TestBoundedTexts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	set := widgetSet(t, admission.Config{})
	d, err := set.Validate(t.Context(), create(`"spec":{"labels":{"`+strings.Repeat("k", 2<<20)+`":{"value":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(asJSON(d.Response)); d.Verdict != admission.Rejected || size > 100<<10 || !strings.HasSuffix(d.Response.Result.Message, " causes in all)") {
		t.Errorf("%s, an answer of %d bytes: %.100s", d.Verdict, size, d.Response.Result.Message)
	}
	long := strings.Repeat("n", 2<<20)
	d, err = set.Validate(t.Context(), with(create(""), func(r *admissionv1.AdmissionRequest) {
		r.Name, r.Object.Raw = long, []byte(strings.Replace(string(r.Object.Raw), `"name":"w"`, `"name":"`+long+`"`, 1))
	}))
	if err != nil || len(asJSON(d.Response)) > 100<<10 {
		t.Errorf("name: %v, an answer of %d bytes", err, len(asJSON(d.Response)))
	}
}
