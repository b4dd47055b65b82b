package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
)

// loadCRD returns the CRD of examples/crontab.
func loadCRD() *apiextensionsv1.CustomResourceDefinition {
	data, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		panic(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		panic(err)
	}
	return crd
}

const sloppy = `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"sloppy"},
	"spec":{"schedule":"@daily","image":"backup:1.4","replicas":20}}`

// serveWebhook is a controller's validating webhook.
func serveWebhook(mux *http.ServeMux, crd *apiextensionsv1.CustomResourceDefinition) error {
	set := admission.NewSet(admission.Config{})
	if err := set.Put(crd); err != nil {
		return err
	}
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		body := http.MaxBytesReader(w, r.Body, 3<<20+64<<10)
		if err := json.NewDecoder(body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := set.Review(r.Context(), &review)
		var bad *admission.RequestError
		switch {
		case errors.As(err, &bad):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		}
	})
	return nil
}

// A controller can implement a validating webhook as serveWebhook does in this file.
func Example_webhook() {
	webhook := http.NewServeMux()
	if err := serveWebhook(webhook, loadCRD()); err != nil {
		panic(err)
	}
	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",
		"kind":{"group":"stable.example.com","version":"v1","kind":"CronTab"},"object":` + sloppy + `}}`
	recorded := httptest.NewRecorder()
	webhook.ServeHTTP(recorded, httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader(review)))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorded.Body.Bytes(), &answer); err != nil {
		panic(err)
	}
	for _, c := range answer.Response.Result.Details.Causes {
		fmt.Printf("%s: %s\n", c.Field, c.Message)
	}
	// Output:
	// spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10
	// spec.schedule: Invalid value: "@daily": must have five fields
}

// admit is the core of an admission plugin, which has the request as a Go value and logs details of
// the decision.
func admit(ctx context.Context, set *admission.Set, request *admissionv1.AdmissionRequest, log *slog.Logger) (*admissionv1.AdmissionResponse, error) {
	d, err := set.Validate(ctx, request)
	if err != nil {
		return nil, err
	}
	if d.Result == nil { // no CRD of the set decides this
		return d.Response, nil
	}
	log.Info("decided", "crd", d.CRD, "verdict", d.Verdict, "cost", d.Result.Cost)
	for _, cause := range d.Result.Causes {
		if cause.Rule != nil {
			log.Info("refused", "field", cause.Field, "rule", cause.Rule.Rule)
		}
	}
	return d.Response, nil
}

// An admission plugin can use the mode Audit as admit does in this file.
func ExampleSet_Validate() {
	set := admission.NewSet(admission.Config{Mode: admission.Audit})
	if err := set.Put(loadCRD()); err != nil {
		panic(err)
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	response, err := admit(context.Background(), set, &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		Kind:      metav1.GroupVersionKind{Group: "stable.example.com", Version: "v1", Kind: "CronTab"},
		Object:    runtime.RawExtension{Raw: []byte(sloppy)},
	}, log)
	fmt.Println(response.Allowed, err)
	// Output:
	// level=INFO msg=decided crd=crontabs.stable.example.com verdict=refused cost=31
	// level=INFO msg=refused field=spec.replicas rule="self.replicas <= self.maxReplicas"
	// level=INFO msg=refused field=spec.schedule rule="self.split(' ').size() == 5"
	// true <nil>
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Mutate can apply the defaults of a newer CRD in a cluster that does not have it yet.
func ExampleSet_Mutate() {
	set := admission.NewSet(admission.Config{})
	if err := set.Put(loadCRD()); err != nil {
		panic(err)
	}
	d, err := set.Mutate(context.Background(), &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		Kind:      metav1.GroupVersionKind{Group: "stable.example.com", Version: "v1", Kind: "CronTab"},
		Object:    runtime.RawExtension{Raw: []byte(sloppy)},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(d.Response.Patch))
	// Output:
	// [{"op":"add","path":"/spec/maxReplicas","value":10}]
}

// If a CRD does not compile, the earlier CRD stays active, and the error describes the problem.
func ExampleSet_Put() {
	set := admission.NewSet(admission.Config{})
	if err := set.Put(loadCRD()); err != nil {
		panic(err)
	}
	crd := loadCRD()
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.XValidations[1].Rule = "self.replica == 0"

	err := set.Put(crd)
	var rule *engine.CompileError
	if errors.As(err, &rule) {
		fmt.Printf("%s: %s\n%s\n", rule.Path, rule.Summary(), rule.Snippet)
	}
	fmt.Println("in force:", set.Names())
	// Output:
	// spec: undefined field 'replica'
	// self.replica == 0
	//     ^
	// in force: [crontabs.stable.example.com]
}
