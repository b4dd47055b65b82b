package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/internal/respond"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: a write to the scale subresource carries a Scale. The server copies its replicas to
// the path in the stored object that the CRD names, and then validates the result like any other
// update. See ScaleREST in k8s.io/apiextensions-apiserver/pkg/registry/customresource.

const (
	scaleSubresource = "scale"
	scaleVersion     = "autoscaling/v1"
	scaleKind        = "Scale"
	// The server reports noReplicas as spec.replicas if the object lacks the field.
	noReplicas = -1 << 31
)

type scaling struct {
	namespace, name string
	replicas        int32
}

func (w *write) prepareScale() error {
	body, v, err := w.scaleBody()
	if err != nil {
		return err
	}
	w.warnings.Add(v.deprecation)
	w.version = v
	// Until there is a new object, rejections concern the Scale.
	w.obj = &unstructured.Unstructured{Object: map[string]any{}}
	to, done := w.decodeScale(body)
	if done {
		return nil
	}
	w.obj.SetNamespace(to.namespace)
	w.obj.SetName(to.name)
	if w.checkIdentity() {
		return nil
	}
	if err := w.readOld(); err != nil || w.failure != nil {
		return err
	}
	scaled, failure := scaledTo(w.old.Object, to.replicas, v.scale.SpecReplicasPath, v.scale.StatusReplicasPath, v.scale.LabelSelectorPath)
	if failure != nil {
		w.failure = failure
		return nil
	}
	w.obj = owned(scaled, w.old.Object)
	w.obj.SetManagedFields(nil)
	w.unprepared = true
	w.replace()
	return nil
}

// scaleBody returns the Scale that the request sends, and the version whose endpoint accepts it. If the request holds
// a custom resource, the body is the Scale that kubectl scale would send for the object's replicas.
func (w *write) scaleBody() (body []byte, v *crdVersion, err error) {
	obj := w.req.Object
	if body = w.req.Raw; body != nil {
		if obj, err = Decode(body); err != nil {
			return nil, nil, fmt.Errorf("request: %w", err)
		}
	} else if !schema.Decoded(obj) {
		return nil, nil, checkTypes("", obj)
	}
	own := w.engine.owns(obj)
	at := w.req.OldObject
	if own {
		at = obj
	}
	if v = w.engine.endpoint(at); v == nil {
		return nil, nil, fmt.Errorf("request: subresource scale: apiVersion %q: the CRD serves no such version", asString(at["apiVersion"]))
	}
	if v.scale == nil {
		return nil, nil, fmt.Errorf("request: subresource scale: version %s does not have it", v.name)
	}
	switch {
	case own:
		path := v.scale.SpecReplicasPath
		replicas, found, err := unstructured.NestedInt64(obj, scaleFields(path)...)
		if err != nil || !found || replicas < math.MinInt32 || replicas > math.MaxInt32 {
			return nil, nil, &NotCheckedError{fmt.Sprintf("the object has no integer at %s to scale to", path)}
		}
		meta, _ := obj["metadata"].(map[string]any)
		obj = map[string]any{"apiVersion": scaleVersion, "kind": scaleKind, "spec": map[string]any{"replicas": replicas},
			"metadata": map[string]any{"name": meta["name"], "namespace": meta["namespace"]}}
		body, err = json.Marshal(obj)
		return body, v, err
	case body == nil:
		body, err = json.Marshal(obj)
	}
	return body, v, err
}

func (w *write) decodeScale(body []byte) (to scaling, done bool) {
	gvk, err := interpret(body)
	other := gvk.Kind != "" && gvk.Kind != scaleKind || gvk.Version != "" && gvk.GroupVersion().String() != scaleVersion
	var scale struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Replicas int32 `json:"replicas"`
		} `json:"spec"`
		Status struct {
			Replicas int32  `json:"replicas"`
			Selector string `json:"selector"`
		} `json:"status"`
	}
	var strict []error
	if err == nil && !other {
		strict, err = kjson.UnmarshalStrict(body, &scale)
	}
	if w.req.DuplicateKeys != nil {
		strict = slices.Insert(strict, 0, w.req.DuplicateKeys)
	}
	if err != nil || other || w.strictScale(strict) {
		w.failure = respond.BadRequest("%s", noScale.For(int(w.engine.server)))
	}
	return scaling{scale.Namespace, scale.Name, scale.Spec.Replicas}, w.failure != nil
}

// noScale is the server's message for any Scale that it cannot decode. The server formats the error
// with a scheme in which Scale is not registered, and names the scheme after a line of
// k8s.io/apimachinery/pkg/runtime/scheme.go, NewScheme.
var noScale = minors.Texts{
	{In: minors.Until(33), Text: `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:100"`},
	{In: minors.Range{Since: 33, Until: 35}, Text: `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"`},
	{In: minors.Range{Since: 35, Until: 38}, Text: `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"`},
	{In: minors.Since(38), Text: `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"`},
}

func (w *write) strictScale(strict []error) (rejected bool) {
	directive := w.req.fieldValidation()
	if len(strict) == 0 || directive == metav1.FieldValidationIgnore {
		return false
	}
	for _, err := range strict {
		w.strict = append(w.strict, strictError(err))
	}
	if directive == metav1.FieldValidationStrict {
		return true
	}
	w.warnStrict()
	return false
}

func scaledTo(old map[string]any, replicas int32, spec, status string, selector *string) (map[string]any, *metav1.Status) {
	_, _, err := unstructured.NestedInt64(old, scaleFields(spec)...)
	if err == nil {
		_, _, err = unstructured.NestedInt64(old, scaleFields(status)...)
	}
	if err == nil && selector != nil && *selector != "" {
		_, _, err = unstructured.NestedString(old, scaleFields(*selector)...)
	}
	if err != nil {
		return nil, unknownFailure(err)
	}
	if replicas == noReplicas {
		return nil, respond.BadRequest("the spec replicas field %q cannot be empty", spec)
	}
	scaled := runtime.DeepCopyJSON(old)
	if err := unstructured.SetNestedField(scaled, int64(replicas), scaleFields(spec)...); err != nil {
		return nil, unknownFailure(err)
	}
	return scaled, nil
}

func unknownFailure(err error) *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}
