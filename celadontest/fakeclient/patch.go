package fakeclient

import (
	"bytes"
	"encoding/json"
	"errors"
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

// maxOperations limits the number of operations in a JSON patch.
const maxOperations = 10_000

// patch handles a PATCH request. force applies to server-side apply only.
func (s *server) patch(c *call, kind types.PatchType, data []byte, force bool) (map[string]any, error) {
	switch kind {
	case types.JSONPatchType, types.MergePatchType:
		return s.alone(c, func() (map[string]any, error) { return s.change(c, kind, data) })
	case types.ApplyYAMLPatchType:
		return s.alone(c, func() (map[string]any, error) { return s.apply(c, data, force) })
	}
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " +
			strings.Join([]string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}, ", "),
	}}
}

// change applies a JSON patch or a merge patch; see jsonPatcher in
// k8s.io/apiserver/pkg/endpoints/handlers.
func (s *server) change(c *call, kind types.PatchType, data []byte) (map[string]any, error) {
	live, err := s.live(c)
	switch {
	case err != nil:
		return nil, internal(err)
	case live == nil:
		return nil, c.notFound()
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
		return nil, invalidPatch(patched, err.Error())
	}
	req := engine.Request{Object: obj, OldObject: live, FieldValidation: c.fieldValidation, Patched: true}
	if req.FieldValidation == metav1.FieldValidationStrict {
		req.FieldValidation = metav1.FieldValidationWarn // reported below, after the errors in the patch
	}
	res, err := s.decide(c, req)
	if err != nil {
		return nil, err
	}
	for _, e := range res.Strict {
		strict = append(strict, e)
	}
	switch {
	case res.Unread != nil:
		return nil, invalidPatch(patched, res.Unread.Error())
	case len(strict) > 0 && c.fieldValidation == metav1.FieldValidationStrict:
		return nil, invalidPatch(patched, runtime.NewStrictDecodingError(strict).Error())
	}
	c.warn(texts(strict[:len(strict)-len(res.Strict)]))
	if err := s.accepted(c, req, res); err != nil {
		return nil, err
	}
	// For a patch, a server removes duplicate owner references only later.
	return s.updated(c, req, res, "managedFields", "ownerReferences")
}

func texts(errs []error) (all []string) {
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

func invalidPatch(patched []byte, why string) error {
	return &apierrors.StatusError{ErrStatus: apply.InvalidPatch(patched, why)}
}

// patched returns the object's JSON after a patch. strict holds the strict decoding errors of the
// patch itself.
func (c *call) patched(kind types.PatchType, body, data []byte) (patched []byte, strict []error, err error) {
	strictly := c.fieldValidation != metav1.FieldValidationIgnore
	if kind == types.MergePatchType {
		if strictly {
			if strict, err = kjson.UnmarshalStrict(data, &map[string]any{}); err != nil {
				return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
			}
		}
		patched, err = jsonpatch.MergePatch(body, data)
		if err == jsonpatch.ErrBadJSONPatch {
			err = apierrors.NewBadRequest(err.Error())
		}
		return patched, strict, err
	}
	if strictly {
		var operations []struct {
			Op    string `json:"op"`
			Path  string `json:"path"`
			From  string `json:"from"`
			Value any    `json:"value"`
		}
		if strict, err = kjson.UnmarshalStrict(data, &operations); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		for i, e := range strict {
			strict[i] = fmt.Errorf("json patch %v", e)
		}
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

// apply handles a server-side apply.
func (s *server) apply(c *call, data []byte, force bool) (map[string]any, error) {
	live, err := s.live(c)
	switch {
	case err != nil:
		return nil, internal(err)
	case live == nil && c.at.subresource != "":
		return nil, c.notFound()
	}
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(data, &config.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	merged, status, err := c.kind.managers.Merge(live, config.Object, c.at.version, c.at.subresource, apply.Write{Manager: c.manager, Force: force})
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
			c.warn([]string{err.Error()})
		}
	}
	return s.applied(c, live, &unstructured.Unstructured{Object: merged})
}

// applied validates and persists the result of a merge.
func (s *server) applied(c *call, live map[string]any, merged *unstructured.Unstructured) (map[string]any, error) {
	managed := managedFields(merged)
	c.sent = merged.GetResourceVersion()
	switch {
	case live == nil && merged.GetUID() != "":
		return nil, apierrors.NewConflict(c.kind.resource, c.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", merged.GetUID()))
	case merged.GetName() != c.name:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", merged.GetName(), c.name))
	}
	req := engine.Request{Object: merged.Object, OldObject: live, Merged: true}
	res, err := s.decide(c, req)
	if err != nil {
		return nil, err
	}
	if err := s.accepted(c, req, res); err != nil {
		return nil, err
	}
	return s.finish(c, req, res, managed)
}

// decoded returns an object in the form of engine.Decode. A merge can leave numbers of other types.
func decoded(u *unstructured.Unstructured) (map[string]any, error) {
	if u.Object == nil {
		return map[string]any{}, nil
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	obj, err := engine.Decode(data)
	return obj, errors.Join(err)
}
