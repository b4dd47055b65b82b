package schema

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Reword gives err the text of Kubernetes 1.minor. It is an error that the linked release found in a
// value, such as a default.
func Reword(err *field.Error, minor int) {
	s := serverOf(minor)
	var limit int64
	switch err.Type {
	case field.ErrorTypeTooLong:
		if _, scanErr := fmt.Sscanf(err.Detail, "may not be more than %d byte", &limit); scanErr == nil {
			err.Detail = s.tooLongError(nil, limit).Detail
		}
	case field.ErrorTypeTooMany:
		if _, scanErr := fmt.Sscanf(err.Detail, "must have at most %d item", &limit); scanErr == nil {
			err.Detail = s.tooManyError(nil, 0, limit).Detail
		}
	case field.ErrorTypeRequired:
		if err.Detail == "" && (strings.HasSuffix(err.Field, ".apiVersion") || strings.HasSuffix(err.Field, ".kind")) {
			err.Detail = s.missingType
		}
	}
}
