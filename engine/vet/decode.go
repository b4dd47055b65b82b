package vet

import (
	"errors"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/crdjson"
	"github.com/celadon-cel/celadon/engine/internal/respond"
)

const crdKind = "CustomResourceDefinition"

// strictSerializer decodes a request's body as the API server does with strict field validation.
var strictSerializer = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Strict: true})
})

// decoded is the result of the server's decoder.
type decoded struct {
	crd    *apiextensionsv1.CustomResourceDefinition // nil if the CRD has another API version
	gvk    *runtimeschema.GroupVersionKind
	strict []error // errors about keys
	beta   bool    // crd was converted

	undecided *engine.WorkLimitError // why crd was not converted
}

// decode decodes a CRD from JSON. failure is the server's response if it cannot decode the body.
func decode(raw []byte, beta bool) (d decoded, failure *metav1.Status) {
	defaults := apiextensionsv1.SchemeGroupVersion.WithKind(crdKind)
	obj, gvk, err := strictSerializer().Decode(raw, &defaults, nil)
	d.gvk = gvk
	if found, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		d.strict, err = found.Errors(), nil
	}
	if err != nil {
		return d, unreadable(gvk, raw, err)
	}
	switch crd := obj.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		d.crd = crd
	case *v1beta1.CustomResourceDefinition:
		if !beta {
			break
		}
		d.crd, err = crdjson.Decode(raw, func(reason string) error {
			return &engine.WorkLimitError{Part: "schema", Reason: reason}
		})
		if errors.As(err, &d.undecided) {
			return d, nil
		}
		if err != nil {
			return d, unreadable(gvk, raw, err)
		}
		d.beta = true
	}
	return d, nil
}

func unreadable(gvk *runtimeschema.GroupVersionKind, raw []byte, err error) *metav1.Status {
	if gvk == nil {
		gvk = &runtimeschema.GroupVersionKind{}
	}
	return respond.Unreadable(*gvk, crdKind, raw, err)
}

// internal returns the CRD as the API server validates it: with defaults, and with shared fields of
// the versions moved to the top. The result shares memory with crd.
func internal(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	v1 := *crd
	v1.Spec.Versions = slices.Clone(crd.Spec.Versions)
	v1.Spec.Conversion = crd.Spec.Conversion.DeepCopy()
	v1.Status = *crd.Status.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&v1)
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, out, nil); err != nil {
		return nil, err
	}
	return out, nil
}
