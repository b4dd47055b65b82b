package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/preview"
)

// Decode reads one JSON object as the API server does: whole numbers as int64,
// others as float64, names case-sensitive, the last of duplicate keys. See
// sigs.k8s.io/json.
func Decode(data []byte) (map[string]any, error) {
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &obj); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if obj == nil {
		return nil, errors.New("not a JSON object: null")
	}
	return obj, nil
}

// decodeRaw reads a request's body; strict are its duplicate keys.
func decodeRaw(data []byte) (obj map[string]any, strict []error, err error) {
	var kind struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	obj = map[string]any{}
	strict, err = kjson.UnmarshalStrict(data, &obj)
	if err != nil {
		return nil, nil, err
	}
	if k, _ := obj["kind"].(string); k == "" {
		return nil, nil, runtime.NewMissingKindErr(string(data))
	}
	return obj, strict, nil
}

// badRequest is a Status without causes.
func badRequest(format string, args ...any) *metav1.Status {
	status := apierrors.NewBadRequest(fmt.Sprintf(format, args...)).ErrStatus
	return &status
}

// unreadable is the server's answer to a body that does not decode.
func (e *Engine) unreadable(obj map[string]any, raw []byte, err error) *metav1.Status {
	kind, _ := obj["kind"].(string)
	if kind == "" {
		return badRequest("the object provided is unrecognized (must be of type %s): %v (%s)", e.kind, err, preview.Body(raw))
	}
	return badRequest("%s in version %q cannot be handled as a %s: %v", kind, versionOf(obj), e.kind, err)
}
