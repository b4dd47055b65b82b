package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
)

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

// newWebhook returns the server of a validating webhook whose timeoutSeconds is 10. Its verdict on an
// object takes at most five seconds.
func newWebhook(crd *apiextensionsv1.CustomResourceDefinition, limits cost.Limits) (*http.Server, error) {
	set := admission.NewSet(admission.Config{Engine: engine.Config{Limits: limits}})
	if err := set.Put(crd); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20)) // both objects
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		answer, err := respond(ctx, set, data)
		var bad *admission.RequestError
		switch {
		case errors.As(err, &bad):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
		}
	})
	return &http.Server{Handler: mux, ReadTimeout: 4 * time.Second}, nil
}

func respond(ctx context.Context, set *admission.Set, data []byte) (*admissionv1.AdmissionReview, error) {
	review, err := admission.DecodeReview(data)
	if err != nil {
		return nil, err
	}
	return set.Review(ctx, review)
}

// A validating webhook limits its time and the cost of rules, as newWebhook does in this file.
func Example_webhook() {
	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",
		"kind":{"group":"stable.example.com","version":"v1","kind":"CronTab"},"object":` + sloppy + `}}`
	send := func(ctx context.Context, limits cost.Limits) *httptest.ResponseRecorder {
		webhook, err := newWebhook(loadCRD(), limits)
		if err != nil {
			panic(err)
		}
		recorded := httptest.NewRecorder()
		webhook.Handler.ServeHTTP(recorded, httptest.NewRequestWithContext(ctx, http.MethodPost, "/validate", strings.NewReader(review)))
		return recorded
	}
	for _, limits := range []cost.Limits{{}, {PerObject: 20}} { // zero is the API server's limit
		var answer admissionv1.AdmissionReview
		if err := json.Unmarshal(send(context.Background(), limits).Body.Bytes(), &answer); err != nil {
			panic(err)
		}
		for _, c := range answer.Response.Result.Details.Causes {
			fmt.Printf("%s: %s\n", c.Field, c.Message)
		}
	}
	late, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	fmt.Println(http.StatusText(send(late, cost.Limits{}).Code))
	// Output:
	// spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10
	// spec.schedule: Invalid value: "@daily": must have five fields
	// spec.replicas: Invalid value: "object": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run
	// Gateway Timeout
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
