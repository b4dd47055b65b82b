package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/x/trace"
)

func explainReview(ctx context.Context, t *testing.T, set *admission.Set, req *admissionv1.AdmissionRequest) {
	d, err := set.Validate(ctx, req)
	if err != nil || d.Result == nil || d.Result.Allowed {
		return
	}
	all, err := trace.NewExplainer(set.Engine(d.Kind)).Explain(ctx, d.Result.Prepared, d.Result.Causes, new(trace.Run).Allowance())
	if err != nil {
		t.Errorf("explaining: %v", err)
	}
	for i, cause := range d.Result.Causes {
		if why := all.Causes[i]; cause.Rule == nil && len(why.Values) > 0 {
			t.Errorf("%s has values, and no rule made it: %v", cause.Field, why.Values)
		}
	}
}

func FuzzReview(f *testing.F) {
	data, err := os.ReadFile("../../examples/admission/crds/crontab.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &crd); err != nil {
		f.Fatal(err)
	}
	set := admission.NewSet(admission.Config{})
	if err := set.Put(&crd); err != nil {
		f.Fatal(err)
	}
	review, err := os.ReadFile("../../examples/admission/review.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(review)
	for _, change := range [][2]string{
		{`"CREATE"`, `"UPDATE"`}, {`"CREATE"`, `"DELETE"`}, {`"spec"`, `"status"`}, {`"schedule"`, `"schedule": null, "x"`},
		{`"image"`, `"image": "` + strings.Repeat("x", 1000) + `", "image"`}, {`"object"`, `"object": [], "oldObject"`},
		{`{`, strings.Repeat(`{"a":`, 300) + `{`}, {`"replicas"`, `"replicas": 1e400, "y"`}, {`"metadata"`, `"metadata": {"name": 7}, "z"`},
		{`"schedule"`, `"schedule": "* * *", "x"`}, {`"replicas"`, `"replicas": 1000, "y"`},
	} {
		f.Add([]byte(strings.Replace(string(review), change[0], change[1], 1)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		in, err := admission.DecodeReview(body)
		if err == nil {
			var out any
			if out, err = set.Review(ctx, in); err == nil {
				if _, err := json.Marshal(out); err != nil {
					t.Errorf("the answer cannot be sent: %v", err)
				}
			}
			if req, bad := admission.RequestOf(in); err == nil && bad == nil {
				explainReview(ctx, t, set, req)
				_, err = set.Mutate(ctx, req)
			}
		}
		var request *admission.RequestError
		if err != nil && !errors.As(err, &request) {
			t.Errorf("%v", err)
		}
	})
}
