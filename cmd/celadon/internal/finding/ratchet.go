package finding

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// errorTypes are the types of errors that a warning about an unchanged value can have.
var errorTypes = []field.ErrorType{
	field.ErrorTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeForbidden, field.ErrorTypeNotSupported, field.ErrorTypeDuplicate,
	field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid, field.ErrorTypeNotFound, field.ErrorTypeInternal,
}

// Ratcheted reports whether a warning about the object is an error that the update did not introduce. In an update, the
// server words only these warnings as errors of a field.
func (o *Object) Ratcheted(warning string) bool {
	if o.Operation != "update" {
		return false
	}
	path, message, ok := strings.Cut(warning, ": ")
	return ok && !strings.HasPrefix(path, "Validation failed for ") && slices.ContainsFunc(errorTypes, func(t field.ErrorType) bool {
		return message == t.String() || strings.HasPrefix(message, t.String()+": ")
	})
}

// AlreadySo explains a ratcheted warning.
const AlreadySo = "the old object already has this value, so the server accepts it until it changes"

// NothingChanged explains ratcheted errors about which the server does not warn.
const NothingChanged = "nothing changed here, so the server accepts it without a warning"
