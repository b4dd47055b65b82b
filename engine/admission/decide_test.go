package admission_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine/admission"
)

// The API server sends this metadata to a validating webhook.
const serverMetadata = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w-x7k2p","generateName":"w-","namespace":"ns",
	"uid":"9f4e","creationTimestamp":"2026-01-02T03:04:05Z","generation":1,"resourceVersion":"77","labels":{"a":"b"},
	"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"spec":{"size":3}}`

func TestValidate(t *testing.T) {
	t.Parallel()
	raw := func(text string) func(*admissionv1.AdmissionRequest) {
		return func(r *admissionv1.AdmissionRequest) { r.Object = runtime.RawExtension{Raw: []byte(text)} }
	}
	for name, c := range map[string]struct {
		req      *admissionv1.AdmissionRequest
		verdict  admission.Verdict
		causes   []string
		message  string
		warnings []string
	}{
		"create":         {req: create(`"spec":{"size":3}`), verdict: admission.Allowed},
		"create refused": {req: create(`"spec":{"size":30}`), verdict: admission.Rejected, causes: []string{"FieldValueInvalid spec.size: Invalid value: 30: too big"}},
		"create, status is dropped": {
			req: create(`"spec":{"size":3},"status":{"ready":-1}`), verdict: admission.Allowed,
		},
		"create, as a webhook gets it": {req: with(create(""), raw(serverMetadata)), verdict: admission.Allowed},
		"create, name to be generated": {
			req: with(with(create(""), raw(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generateName":"w-"},"spec":{}}`)),
				func(r *admissionv1.AdmissionRequest) { r.Name = "" }), verdict: admission.Allowed,
		},
		"dry run": {
			req:     with(create(`"spec":{"size":30}`), func(r *admissionv1.AdmissionRequest) { r.DryRun = new(bool); *r.DryRun = true }),
			verdict: admission.Rejected, causes: []string{"FieldValueInvalid spec.size: Invalid value: 30: too big"},
		},
		"unknown field": {
			req: create(`"spec":{"sise":3}`), verdict: admission.Allowed, warnings: []string{`unknown field "spec.sise"`},
		},
		"unknown field, strict": {
			req:     with(create(`"spec":{"sise":3}`), func(r *admissionv1.AdmissionRequest) { r.Options.Raw = []byte(`{"fieldValidation":"Strict"}`) }),
			verdict: admission.Rejected, message: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.sise"`,
		},
		"update":          {req: update(`"spec":{"image":"a","size":4}`, `"spec":{"image":"a"}`), verdict: admission.Allowed},
		"update refused":  {req: update(`"spec":{"image":"b"}`, `"spec":{"image":"a"}`), verdict: admission.Rejected, causes: []string{"FieldValueForbidden spec.image: Forbidden: is immutable"}},
		"update ratchets": {req: update(`"spec":{"size":30,"image":"a"}`, `"spec":{"size":30,"image":"a"}`), verdict: admission.Allowed, warnings: []string{"spec.size: Invalid value: 30: too big"}},
		"status":          {req: status(`"status":{"ready":1}`, ``), verdict: admission.Allowed},
		"status refused":  {req: status(`"status":{"ready":-1}`, ``), verdict: admission.Rejected, causes: []string{"FieldValueInvalid status: Invalid value: negative"}},
		"status keeps the old spec": {
			req: status(`"spec":{"image":"b"},"status":{"ready":1}`, `"spec":{"image":"a"}`), verdict: admission.Allowed,
		},
		"delete":  {req: with(update("", ""), func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }), verdict: admission.Untouched},
		"connect": {req: with(create(""), func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect }), verdict: admission.Untouched},
		"scale": {
			req:     with(update("", ""), func(r *admissionv1.AdmissionRequest) { r.SubResource = "scale"; r.Kind.Group = "autoscaling" }),
			verdict: admission.Untouched,
		},
		"unknown kind": {
			req:     with(create(""), func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Gadget" }),
			verdict: admission.NotChecked, warnings: []string{"celadon: not checked: no CRD for example.com/v1 Gadget"},
		},
		"version not served": {
			req:     with(create(""), func(r *admissionv1.AdmissionRequest) { r.Kind.Version = "v0" }),
			verdict: admission.NotChecked, warnings: []string{"celadon: not checked: no CRD for example.com/v0 Widget"},
		},
		"other subresource": {
			req:     with(update("", ""), func(r *admissionv1.AdmissionRequest) { r.SubResource = "log" }),
			verdict: admission.NotChecked, warnings: []string{"celadon: not checked: custom resources have no subresource log"},
		},
		"object of another version than the request": {
			req:     with(create(""), raw(`{"apiVersion":"example.com/v7","kind":"Widget","metadata":{"name":"w"}}`)),
			verdict: admission.Rejected, message: "the API version in the data (example.com/v7) does not match the expected API version (example.com/v1)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := widgetSet(t, admission.Config{}).Validate(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			if d.Verdict != c.verdict || d.Response.Allowed != (c.verdict != admission.Rejected) || d.Response.UID != c.req.UID {
				t.Errorf("verdict %s, response %s", d.Verdict, asJSON(d.Response))
			}
			if got := causesOf(d); c.causes != nil || got != nil {
				if diff := cmp.Diff(c.causes, got); diff != "" {
					t.Errorf("causes (-want +got):\n%s", diff)
				}
			}
			if c.message != "" && d.Response.Result.Message != c.message {
				t.Errorf("message %q, want %q", d.Response.Result.Message, c.message)
			}
			if diff := cmp.Diff(c.warnings, d.Response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func causesOf(d *admission.Decision) []string {
	if d.Response.Result == nil || d.Response.Result.Details == nil {
		return nil
	}
	var out []string
	for _, c := range d.Response.Result.Details.Causes {
		out = append(out, string(c.Type)+" "+c.Field+": "+c.Message)
	}
	return out
}

func TestModes(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{
		"crd":     "widgets.example.com",
		"verdict": "refused",
		"cost":    "2",
		"rules":   "v1 spec.size.x-kubernetes-validations[0]: self < 10",
		"causes":  "FieldValueInvalid spec.size",
	}
	for name, c := range map[string]struct {
		mode     admission.Mode
		allowed  bool
		warnings []string
	}{
		"enforce": {admission.Enforce, false, nil},
		"warn":    {admission.Warn, true, []string{"celadon would reject this: spec.size: Invalid value: 30: too big"}},
		"audit":   {admission.Audit, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := widgetSet(t, admission.Config{Mode: c.mode}).Validate(t.Context(), create(`"spec":{"size":30}`))
			if err != nil {
				t.Fatal(err)
			}
			if c.mode.String() != name || d.Verdict != admission.Rejected || d.Response.Allowed != c.allowed || (d.Response.Result == nil) != c.allowed {
				t.Errorf("got %s", asJSON(d.Response))
			}
			if diff := cmp.Diff(c.warnings, d.Response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(annotations, d.Response.AuditAnnotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownRejected(t *testing.T) {
	t.Parallel()
	req := with(create(""), func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Gadget" })
	for _, mode := range []admission.Mode{admission.Enforce, admission.Warn, admission.Audit} {
		set := admission.NewSet(admission.Config{Mode: mode, Unknown: admission.RejectUnknown})
		for _, decide := range []func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error){set.Validate, set.Mutate} {
			d, err := decide(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if d.Verdict != admission.NotChecked || d.Response.Allowed != (mode != admission.Enforce) {
				t.Errorf("%s: %s", mode, asJSON(d.Response))
			}
			if mode == admission.Enforce && d.Response.Result.Code != 403 {
				t.Errorf("code %d, want 403", d.Response.Result.Code)
			}
		}
	}
}

func TestReview(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	var meta metav1.TypeMeta
	for _, version := range []string{"v1beta1", "v1"} { // the response has the version of the request
		meta = metav1.TypeMeta{APIVersion: "admission.k8s.io/" + version, Kind: "AdmissionReview"}
		out, err := set.Review(t.Context(), &admissionv1.AdmissionReview{TypeMeta: meta, Request: create(`"spec":{"size":30}`)})
		if err != nil {
			t.Fatal(err)
		}
		if out.TypeMeta != meta || out.Request != nil || out.Response.UID != "u-1" || out.Response.Result.Code != 422 {
			t.Errorf("got %s", asJSON(out))
		}
	}
	op := func(o admissionv1.Operation) *admissionv1.AdmissionRequest {
		return with(create(""), func(r *admissionv1.AdmissionRequest) { r.Operation = o })
	}
	raw := func(object string) *admissionv1.AdmissionRequest {
		return with(create(""), func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(object) })
	}
	for name, c := range map[string]struct {
		review *admissionv1.AdmissionReview
		want   string
	}{
		"nil":           {nil, "no review given"},
		"no kind":       {&admissionv1.AdmissionReview{Request: create("")}, `apiVersion "", kind "" (want "admission.k8s.io/v1", "AdmissionReview")`},
		"alpha":         {&admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1alpha1", Kind: "AdmissionReview"}}, `"admission.k8s.io/v1alpha1"`},
		"no request":    {&admissionv1.AdmissionReview{TypeMeta: meta}, "the review has no request"},
		"no operation":  {&admissionv1.AdmissionReview{TypeMeta: meta, Request: op("")}, `operation "" (want CREATE, UPDATE, DELETE or CONNECT)`},
		"no old object": {&admissionv1.AdmissionReview{TypeMeta: meta, Request: op(admissionv1.Update)}, "no oldObject"},
		"no object":     {&admissionv1.AdmissionReview{TypeMeta: meta, Request: raw("")}, "no object"},
		"null object":   {&admissionv1.AdmissionReview{TypeMeta: meta, Request: raw("null")}, "object: not a JSON object: null"},
		"list":          {&admissionv1.AdmissionReview{TypeMeta: meta, Request: raw("[]")}, "object: not a JSON object"},
		"too deep":      {&admissionv1.AdmissionReview{TypeMeta: meta, Request: raw(`{"spec":` + strings.Repeat("[", 20000))}, "exceeded max depth"},
		"create of a subresource": {&admissionv1.AdmissionReview{TypeMeta: meta, Request: with(create(""),
			func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" })}, `operation CREATE of subresource "status"`},
	} {
		_, err := set.Review(t.Context(), c.review)
		var bad *admission.RequestError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set := widgetSet(t, admission.Config{})
	if _, err := set.Validate(ctx, create(`"spec":{"size":3}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("validate: %v", err)
	}
	if _, err := set.Mutate(ctx, create(`"spec":{"size":3}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("mutate: %v", err)
	}
}

// An admission plugin passes Go values.
func TestGoObjects(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "ns"},
		"spec": map[string]any{"size": int64(30)},
	}}
	d, err := set.Validate(t.Context(), with(create(""), func(r *admissionv1.AdmissionRequest) { r.Object = runtime.RawExtension{Object: u} }))
	if err != nil || d.Verdict != admission.Rejected {
		t.Errorf("unstructured: %v, %v", d, err)
	}
	typed := widgetCRD(t, "10")
	d, err = set.Validate(t.Context(), with(create(""), func(r *admissionv1.AdmissionRequest) {
		r.Object, r.Options = runtime.RawExtension{Object: typed}, runtime.RawExtension{Object: &metav1.CreateOptions{FieldValidation: "Ignore"}}
	}))
	if err != nil || d.Verdict != admission.Rejected {
		t.Errorf("typed: %v, %v", d, err)
	}
}

func TestManyCauses(t *testing.T) {
	t.Parallel()
	set := admission.NewSet(admission.Config{Mode: admission.Warn})
	crd := widgetCRD(t, "10")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["parts"].Items.Schema.Required = []string{"name"}
	if err := set.Put(crd); err != nil {
		t.Fatal(err)
	}
	d, err := set.Validate(t.Context(), create(`"spec":{"parts":[`+strings.Repeat("{},", 99)+`{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Response.Warnings); n != 17 || d.Response.Warnings[16] != "and 85 more" {
		t.Errorf("%d warnings, the last %q", n, d.Response.Warnings[n-1])
	}
	if lines := strings.Split(d.Response.AuditAnnotations[admission.AuditCauses], "\n"); len(lines) != 17 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestWebhookConversion(t *testing.T) {
	t.Parallel()
	crd := widgetCRD(t, "10")
	crd.Spec.Versions[1].Served = true
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	set := admission.NewSet(admission.Config{})
	if err := set.Put(crd); err != nil {
		t.Fatal(err)
	}
	req := update("", "")
	req.OldObject.Raw = []byte(strings.Replace(string(req.OldObject.Raw), "example.com/v1", "example.com/v0", 1))
	d, err := set.Validate(t.Context(), req)
	if err != nil || d.Verdict != admission.NotChecked || !d.Response.Allowed || len(d.Response.Warnings) != 1 {
		t.Errorf("%v, %s", err, asJSON(d))
	}
}
