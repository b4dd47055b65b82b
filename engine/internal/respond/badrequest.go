package respond

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/preview"
)

// BadRequest returns a Status with code 400, a formatted message, and no causes.
func BadRequest(format string, args ...any) *metav1.Status {
	status := apierrors.NewBadRequest(fmt.Sprintf(format, args...)).ErrStatus
	return &status
}

// Unreadable returns the server's response to a body that does not decode. got is the type of the
// body as far as it is known, and kind is the kind that the request must have.
func Unreadable(got schema.GroupVersionKind, kind string, body []byte, err error) *metav1.Status {
	if got.Kind == "" {
		return BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, preview.Body(body))
	}
	return BadRequest("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err)
}
