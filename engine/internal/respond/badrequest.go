package respond

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/preview"
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
		return BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, preview.Body(body))
	}
	return BadRequest("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err)
}
