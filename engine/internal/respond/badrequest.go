package respond

import (
	"encoding/hex"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BadRequest is a Status without causes.
func BadRequest(format string, args ...any) *metav1.Status {
	status := apierrors.NewBadRequest(fmt.Sprintf(format, args...)).ErrStatus
	return &status
}

// Unreadable is the answer to a body that does not decode: got is what is known
// of its type, kind what the request is for.
func Unreadable(got schema.GroupVersionKind, kind string, body []byte, err error) *metav1.Status {
	if got.Kind == "" {
		return BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summarize(body))
	}
	return BadRequest("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err)
}

const summaryBytes = 30

// summarize shows where a body begins.
func summarize(body []byte) string {
	if len(body) == 0 {
		return "<empty>"
	}
	text, dots := body, ""
	if len(body) > summaryBytes {
		text, dots = body[:summaryBytes], " ..."
	}
	if body[0] == '{' {
		return string(text) + dots
	}
	return hex.EncodeToString(text) + dots
}
