package metadata

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
)

// A feature is a part of the validation that not all minor versions have.
type feature uint8

const (
	// strictOwners: owner references are reported with their index, missing fields as Required, and an
	// apiVersion must have the form of one.
	strictOwners feature = iota
	// namedOwnerFields: the error for a missing field of an owner reference repeats its name.
	namedOwnerFields
	// updatedGeneration: an update reports a negative generation as well.
	updatedGeneration
	// managedOperations: an operation of managedFields is reported as missing or unsupported, not as
	// invalid.
	managedOperations
	// distinct: duplicate metadata errors of custom resources and embedded resources are removed.
	distinct
	// bareOwners: a missing field of an owner reference has no detail in errors of custom resources and
	// embedded resources, because they come from generated code.
	bareOwners
	features
)

var featureMinors = [features]minors.Range{
	strictOwners:      minors.Since(37), // k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
	namedOwnerFields:  minors.Until(34), // the same file, validateOwnerReference
	updatedGeneration: minors.Since(37), // the same file, ValidateObjectMetaAccessorUpdate
	managedOperations: minors.Since(37), // k8s.io/apimachinery/pkg/apis/meta/v1/validation, ValidateManagedFields
	distinct:          minors.Since(37), // k8s.io/apimachinery/pkg/api/validate/errors.go, FilterCoveredHandwrittenErrors
	bareOwners:        minors.Since(38), // k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaDeclaratively
}

// words holds the messages of one minor version. Each is a format with one operand.
type words struct{ key, keyLength, length string }

var (
	// k8s.io/apimachinery/pkg/util/validation.IsQualifiedName, and since 1.35
	// k8s.io/apimachinery/pkg/api/validate/content.IsLabelKey
	qualifiedName = minors.Texts{
		{In: minors.Until(35), Text: "a qualified name %s"},
		{In: minors.Since(35), Text: "a valid label key %s"},
	}
	qualifiedNameLength = minors.Texts{
		{In: minors.Until(35), Text: "must be no more than %d characters"},
		{In: minors.Since(35), Text: "must be no more than %d bytes"},
	}
	// k8s.io/apimachinery/pkg/util/validation/field.TooLong
	tooLong = minors.Texts{
		{In: minors.Until(32), Text: "must have at most %d bytes"},
		{In: minors.Since(32), Text: "may not be more than %d bytes"},
	}
)

func wordsOf(minor int) words {
	return words{
		key:       qualifiedName.For(minor),
		keyLength: qualifiedNameLength.For(minor),
		length:    tooLong.For(minor),
	}
}

// tooLong returns the error for a value of more than limit bytes.
func (w *words) tooLong(path *field.Path, limit int) *field.Error {
	err := field.TooLong(path, "", limit)
	err.Detail = fmt.Sprintf(w.length, limit)
	return err
}
