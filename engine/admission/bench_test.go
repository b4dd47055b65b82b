package admission_test

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/admission"
)

func reviewOf(t testing.TB, req *admissionv1.AdmissionRequest) []byte {
	t.Helper()
	review := &admissionv1.AdmissionReview{Request: req}
	review.APIVersion, review.Kind = "admission.k8s.io/v1", "AdmissionReview"
	data, err := yaml.Marshal(review)
	if err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	benchSpec = `"spec":{"size":3,"image":"a","parts":[{"name":"a","count":1},{"name":"b","count":2}],"labels":{"a":{"value":"x"}}}`
	benchBad  = `"spec":{"size":30,"image":"a","parts":[{"name":"a","count":1},{"name":"b","count":2}],"labels":{"a":{"value":"x"}}}`
	benchBare = `"spec":{"image":"a","parts":[{"name":"a"},{"name":"b"}],"labels":{"a":{}}}`
)

func BenchmarkSet(b *testing.B) {
	set := widgetSet(b, admission.Config{})
	for _, c := range []struct {
		name   string
		req    *admissionv1.AdmissionRequest
		decide func(*admission.Set, *testing.B, *admissionv1.AdmissionRequest) (*admission.Decision, error)
		want   admission.Verdict
	}{
		{"create/accepted", create(benchSpec), validate, admission.Allowed},
		{"create/refused", create(benchBad), validate, admission.Rejected},
		{"update/accepted", update(benchSpec, benchSpec), validate, admission.Allowed},
		{"update/refused", update(benchBad, benchSpec), validate, admission.Rejected},
		{"status", status(`"status":{"ready":1}`, benchSpec), validate, admission.Allowed},
		{"mutate/nothing", create(benchSpec), mutate, admission.Allowed},
		{"mutate/defaults", create(benchBare), mutate, admission.Allowed},
	} {
		data := reviewOf(b, c.req)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				review, err := admission.DecodeReview(data)
				if err != nil {
					b.Fatal(err)
				}
				d, err := c.decide(set, b, review.Request)
				if err != nil || d.Verdict != c.want {
					b.Fatal(d, err)
				}
			}
		})
	}
	data := reviewOf(b, create(benchSpec))
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := admission.DecodeReview(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func validate(s *admission.Set, b *testing.B, req *admissionv1.AdmissionRequest) (*admission.Decision, error) {
	return s.Validate(b.Context(), req)
}

func mutate(s *admission.Set, b *testing.B, req *admissionv1.AdmissionRequest) (*admission.Decision, error) {
	return s.Mutate(b.Context(), req)
}
