package schema

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Reword gives err the text of Kubernetes 1.minor. It is an error that the linked release found in a
// value, such as a default. ofType is set if err may be about the missing type of an embedded resource.
func Reword(err *field.Error, minor int, ofType bool) {
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
		if ofType && err.Detail == "" {
			err.Detail = s.missingType
		}
	}
}
