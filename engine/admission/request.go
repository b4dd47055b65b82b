package admission

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine"
)

// A RequestError means that the API server would not send such a request, so it cannot be decided.
// Over HTTP, the response is a 400.
type RequestError struct{ Reason string }

func (e *RequestError) Error() string { return "not an admission request: " + e.Reason }

func badRequest(format string, args ...any) error {
	return &RequestError{shorten(fmt.Sprintf(format, args...))}
}

// DecodeReview decodes a review and its objects from JSON as the API server would, so that they are
// decoded only once. The error is a *RequestError.
func DecodeReview(data []byte) (*admissionv1.AdmissionReview, error) {
	var in struct {
		metav1.TypeMeta
		Request *struct {
			admissionv1.AdmissionRequest
			// These fields shadow the embedded fields of the same names.
			Object    map[string]any `json:"object"`
			OldObject map[string]any `json:"oldObject"`
		} `json:"request"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &in); err != nil {
		return nil, badRequest("%v", err)
	}
	review := &admissionv1.AdmissionReview{TypeMeta: in.TypeMeta}
	if in.Request != nil {
		review.Request = &in.Request.AdmissionRequest
		review.Request.Object.Object = decoded(in.Request.Object)
		review.Request.OldObject.Object = decoded(in.Request.OldObject)
	}
	return review, nil
}

func decoded(fields map[string]any) runtime.Object {
	if fields == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: fields}
}

// RequestOf returns the request in a review, or a *RequestError. It also accepts reviews of
// admission.k8s.io/v1beta1, which have the same JSON form. The response must have the same version.
func RequestOf(review *admissionv1.AdmissionReview) (*admissionv1.AdmissionRequest, error) {
	if review == nil {
		return nil, badRequest("no review given")
	}
	if want := admissionv1.SchemeGroupVersion.String(); review.APIVersion != want && review.APIVersion != betaVersion || review.Kind != reviewKind {
		return nil, badRequest("apiVersion %q, kind %q (want %q, %q)", review.APIVersion, review.Kind, want, reviewKind)
	}
	if review.Request == nil {
		return nil, badRequest("the review has no request")
	}
	return review.Request, nil
}

const (
	reviewKind        = "AdmissionReview"
	betaVersion       = "admission.k8s.io/v1beta1"
	statusSubresource = "status"
)

func kindOf(req *admissionv1.AdmissionRequest) schema.GroupVersionKind {
	return schema.GroupVersionKind(req.Kind)
}

func checkRequest(req *admissionv1.AdmissionRequest) error {
	if req == nil {
		return badRequest("no request given")
	}
	switch req.Operation {
	case admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect:
		return nil
	}
	return badRequest("operation %q (want CREATE, UPDATE, DELETE or CONNECT)", req.Operation)
}

func open(req *admissionv1.AdmissionRequest) (*engine.Request, error) {
	obj, err := decode("object", &req.Object)
	if err != nil {
		return nil, err
	}
	out := &engine.Request{
		Object:          obj,
		Namespace:       req.Namespace,
		Name:            req.Name,
		Subresource:     req.SubResource,
		FieldValidation: fieldValidation(&req.Options),
	}
	switch {
	case req.Operation == admissionv1.Update:
		out.OldObject, err = decode("oldObject", &req.OldObject)
	case req.SubResource != "":
		err = badRequest("operation %s of subresource %q", req.Operation, req.SubResource)
	}
	return out, err
}

func decode(name string, raw *runtime.RawExtension) (map[string]any, error) {
	data := raw.Raw
	if len(data) == 0 && raw.Object != nil {
		if u, ok := raw.Object.(*unstructured.Unstructured); ok {
			return u.Object, nil
		}
		var err error
		if data, err = json.Marshal(raw.Object); err != nil {
			return nil, badRequest("%s: %v", name, err)
		}
	}
	if len(data) == 0 {
		return nil, badRequest("no %s", name)
	}
	obj, err := engine.Decode(data)
	if err != nil {
		return nil, badRequest("%s: %v", name, err)
	}
	return obj, nil
}

// CreateOptions, UpdateOptions, and PatchOptions all have a field fieldValidation. The result is "" for Warn, the
// default.
func fieldValidation(options *runtime.RawExtension) string {
	data := options.Raw
	if len(data) == 0 && options.Object != nil {
		data, _ = json.Marshal(options.Object)
	}
	var o struct {
		FieldValidation string `json:"fieldValidation"`
	}
	if len(data) == 0 || json.Unmarshal(data, &o) != nil {
		return ""
	}
	if o.FieldValidation != metav1.FieldValidationStrict && o.FieldValidation != metav1.FieldValidationIgnore {
		return ""
	}
	return o.FieldValidation
}
