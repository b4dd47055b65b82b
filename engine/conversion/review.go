package conversion

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/celadon-cel/celadon/engine"
)

// Reviews returns a Converter that calls send with a ConversionReview in JSON and decodes a
// ConversionReview from its untrusted result. If send returns an *Error, its Failure is kept; any
// other error is NoAnswer.
func Reviews(send func(ctx context.Context, review []byte) (answer []byte, err error)) *Converter {
	return single(exchangeBy(send))
}

// The errors of an exchange are of type *Error.
type exchange func(context.Context, []engine.Conversion) ([]map[string]any, error)

func single(do exchange) *Converter {
	return &Converter{make: func(ctx context.Context, q engine.Conversion) (map[string]any, error) {
		out, err := do(ctx, []engine.Conversion{q})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}}
}

func exchangeBy(send func(ctx context.Context, review []byte) (answer []byte, err error)) exchange {
	codec := newCodec()
	return reviews(codec, func(ctx context.Context, review []byte, into runtime.Object) error {
		body, err := send(ctx, review)
		if err != nil {
			return err
		}
		return decode(codec, body, into)
	})
}

func reviews(codec runtime.Codec, call func(ctx context.Context, review []byte, into runtime.Object) error) exchange {
	return func(ctx context.Context, qs []engine.Conversion) ([]map[string]any, error) {
		r, err := newReview(codec, qs)
		if err != nil {
			return nil, &Error{NoAnswer, err.Error()}
		}
		if err := call(ctx, r.body, r.answer); err != nil {
			kind := NoAnswer
			var known *Error
			if errors.As(err, &known) {
				kind = known.Failure
			}
			return nil, failed(kind, qs[0], "failed: %v", err)
		}
		return r.converted(qs)
	}
}

// newCodec returns a codec that reads and writes ConversionReviews like the API server's client, which also accepts
// YAML and protobuf.
func newCodec() runtime.Codec {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1beta1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme).LegacyCodec(apiextensionsv1.SchemeGroupVersion, apiextensionsv1beta1.SchemeGroupVersion)
}

// maxNonJSONBody limits a response that is not JSON, because decoding it takes longer.
const maxNonJSONBody = 64 << 10

// maxValues limits the values of a response. A decoded value can take fifty times its bytes.
const maxValues = 1 << 20

// checkSize returns an error if decoding a response could take too long, or too much memory.
func checkSize(body []byte) error {
	if len(body) > maxNonJSONBody && !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return fmt.Errorf("the response is not JSON (got %d bytes, want JSON if longer than %d)", len(body), maxNonJSONBody)
	}
	if values := bytes.Count(body, []byte(",")) + bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("[")); values > maxValues {
		return fmt.Errorf("the response is too large (got about %d values, want at most %d)", values, maxValues)
	}
	return nil
}

func decode(codec runtime.Codec, body []byte, into runtime.Object) error {
	if err := checkSize(body); err != nil {
		return err
	}
	out, _, err := codec.Decode(body, nil, into)
	if err != nil || out == into {
		return err
	}
	if status, ok := out.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
		return apierrors.FromObject(status)
	}
	return nil
}

type review struct {
	uid    types.UID
	body   []byte
	answer runtime.Object
}

// newReview uses the first of the CRD's review versions that the API server supports.
func newReview(codec runtime.Codec, qs []engine.Conversion) (*review, error) {
	q := qs[0]
	var objects []runtime.RawExtension
	id := []byte(q.APIVersion)
	for _, q := range qs {
		object, err := (&unstructured.Unstructured{Object: q.Object}).MarshalJSON()
		if err != nil {
			return nil, err
		}
		id = append(id, object...)
		objects = append(objects, runtime.RawExtension{Raw: bytes.TrimSuffix(object, []byte("\n"))})
	}
	// Equal requests have equal uids, so that the same input always produces the same report.
	r := &review{uid: types.UID(uuid.NewSHA1(uuid.Nil, id).String())}
	request := &apiextensionsv1.ConversionRequest{UID: r.uid, DesiredAPIVersion: q.APIVersion, Objects: objects}
	var question runtime.Object
	for _, version := range q.ReviewVersions {
		switch version {
		case apiextensionsv1beta1.SchemeGroupVersion.Version:
			question = &apiextensionsv1beta1.ConversionReview{
				Request:  (*apiextensionsv1beta1.ConversionRequest)(request),
				Response: &apiextensionsv1beta1.ConversionResponse{},
			}
			r.answer = &apiextensionsv1beta1.ConversionReview{}
		case apiextensionsv1.SchemeGroupVersion.Version:
			question = &apiextensionsv1.ConversionReview{Request: request, Response: &apiextensionsv1.ConversionResponse{}}
			r.answer = &apiextensionsv1.ConversionReview{}
		default:
			continue
		}
		var err error
		r.body, err = runtime.Encode(codec, question)
		return r, err
	}
	return nil, errors.New("no supported conversion review versions")
}

func (r *review) converted(qs []engine.Conversion) ([]map[string]any, error) {
	q := qs[0]
	response, err := r.response()
	if err != nil {
		return nil, failed(Wrong, q, "failed: %v", err)
	}
	objects, result := response.ConvertedObjects, response.Result
	switch {
	case result.Status == metav1.StatusSuccess:
	case result.Message != "":
		return nil, failed(Failed, q, "failed: %s", result.Message)
	default:
		return nil, failed(Failed, q, "failed: response.result.status was '%s', not 'Success'", result.Status)
	}
	if len(objects) != len(qs) {
		return nil, failed(Wrong, q, "returned %d objects, expected %d", len(objects), len(qs))
	}
	out := make([]map[string]any, len(objects))
	for i := range objects {
		u := unstructured.Unstructured{}
		if err := u.UnmarshalJSON(objects[i].Raw); err != nil {
			return nil, &Error{Wrong, err.Error()} // the API server adds nothing to it
		}
		out[i] = u.Object
	}
	return out, nil
}

// Like the API server, response does not check the kind and uid of v1beta1.
func (r *review) response() (response *apiextensionsv1.ConversionResponse, err error) {
	want := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview")
	answer, isV1 := r.answer.(*apiextensionsv1.ConversionReview)
	if isV1 {
		response = answer.Response
	} else {
		response = (*apiextensionsv1.ConversionResponse)(r.answer.(*apiextensionsv1beta1.ConversionReview).Response)
	}
	switch {
	case isV1 && answer.GroupVersionKind() != want:
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, answer.GroupVersionKind())
	case response == nil:
		return nil, errors.New("no response provided")
	case isV1 && response.UID != r.uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", r.uid, response.UID)
	}
	return response, nil
}
