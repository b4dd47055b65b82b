package fakeclient

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

const maxOperations = 10_000

// force applies to server-side apply only.
func (c *call) patch(kind types.PatchType, data []byte, force bool) (map[string]any, error) {
	switch kind {
	case types.JSONPatchType, types.MergePatchType:
		return c.change(kind, data)
	case types.ApplyYAMLPatchType:
		return c.apply(data, force)
	}
	known := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(known, ", "),
	}}
}

// change applies a JSON patch or a merge patch; see jsonPatcher in
// k8s.io/apiserver/pkg/endpoints/handlers.
func (c *call) change(kind types.PatchType, data []byte) (map[string]any, error) {
	live, err := c.get()
	if err != nil {
		return nil, err
	}
	body, err := runtime.Encode(unstructured.UnstructuredJSONScheme, &unstructured.Unstructured{Object: live})
	if err != nil {
		return nil, internal(err)
	}
	patched, strict, err := c.patched(kind, bytes.TrimSuffix(body, []byte("\n")), data)
	if err != nil {
		return nil, internal(err)
	}
	obj, err := engine.Decode(patched)
	if err != nil {
		return nil, invalidPatch(patched, err)
	}
	req := engine.Request{Object: obj, OldObject: live, FieldValidation: c.fieldValidation, Patched: true}
	if req.FieldValidation == metav1.FieldValidationStrict {
		req.FieldValidation = metav1.FieldValidationWarn // reported below, after the errors in the patch
	}
	res, rejected := c.decide(req)
	if res == nil {
		return nil, rejected
	}
	all := strict
	for _, e := range res.Strict {
		all = append(all, e)
	}
	switch {
	case res.Unread != nil:
		return nil, invalidPatch(patched, res.Unread)
	case len(all) > 0 && c.fieldValidation == metav1.FieldValidationStrict:
		return nil, invalidPatch(patched, runtime.NewStrictDecodingError(all))
	}
	for _, e := range strict {
		c.warn(e.Error())
	}
	return c.written(req, res, rejected)
}

func invalidPatch(patched []byte, why error) error {
	return &apierrors.StatusError{ErrStatus: apply.InvalidPatch(patched, why.Error())}
}

// An operation is decoded to detect unknown and duplicate fields.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// strict holds the strict decoding errors of the patch itself.
func (c *call) patched(kind types.PatchType, body, data []byte) (patched []byte, strict []error, err error) {
	var form any = &map[string]any{}
	if kind == types.JSONPatchType {
		form = &[]operation{}
	}
	if c.fieldValidation != metav1.FieldValidationIgnore {
		if strict, err = kjson.UnmarshalStrict(data, form); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
	}
	if kind == types.MergePatchType {
		if patched, err = jsonpatch.MergePatch(body, data); err == jsonpatch.ErrBadJSONPatch {
			err = apierrors.NewBadRequest(err.Error())
		}
		return patched, strict, err
	}
	for i, e := range strict {
		strict[i] = fmt.Errorf("json patch %v", e)
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	if patched, err = operations.Apply(body); err != nil {
		err = apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return patched, strict, err
}

func (c *call) apply(data []byte, force bool) (map[string]any, error) {
	live, err := c.get()
	if err != nil && (c.subresource != "" || !apierrors.IsNotFound(err)) {
		return nil, err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	merged, status, err := c.kind.managers.Merge(live, config, c.version, c.subresource, apply.Write{Manager: c.manager, Force: force})
	switch {
	case err != nil:
		return nil, internal(err)
	case status != nil:
		return nil, &apierrors.StatusError{ErrStatus: *status}
	}
	if err := yaml.UnmarshalStrict(data, &map[string]any{}); err != nil {
		switch c.fieldValidation {
		case metav1.FieldValidationStrict:
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		case metav1.FieldValidationWarn:
			c.warn(err.Error())
		}
	}
	u := &unstructured.Unstructured{Object: merged}
	switch {
	case live == nil && u.GetUID() != "":
		return nil, apierrors.NewConflict(c.kind.resource, c.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", u.GetUID()))
	case u.GetName() != c.name:
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", u.GetName(), c.name))
	}
	return c.write(engine.Request{Object: merged, OldObject: live, Merged: true})
}
