package schema

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/internal/minors"
)

// What differs between the API servers of different minor versions.
var (
	// formatsByType: a format applies only to the type for which it is defined. Before, the type did
	// not matter, and formats of numbers were ignored.
	// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go
	formatsByType = minors.Since(36)
	// numberRanges: numbers and their bounds must be in the range of their type and format.
	// k8s.io/kube-openapi/pkg/validation/validate/schema.go, numberValidator
	numberRanges = minors.Since(36)
	// sizeUnits: a limit of 1 has its unit in the singular.
	// k8s.io/apimachinery/pkg/util/validation/field/errors.go, TooLong and TooMany
	sizeUnits = minors.Since(34)
	// tooFew: too few items or properties are an error of their own type.
	// k8s.io/apiextensions-apiserver/pkg/apiserver/validation/validation.go, kubeOpenAPIResultToFieldErrors
	tooFew = minors.Since(38)
	// tooShort: so is a string that is too short.
	tooShort = minors.Since(38)
)

// The messages of errors, with the limit.
var (
	// k8s.io/apimachinery/pkg/util/validation/field/errors.go, TooLongMaxLength and then TooLong
	tooLong = minors.Texts{
		{In: minors.Until(32), Text: "may not be longer than %d"},
		{In: minors.Since(32), Text: "may not be more than %d bytes"},
	}
	// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go
	missingType = minors.Texts{
		{In: minors.Until(34), Text: "must not be empty"},
		{In: minors.Since(34), Text: ""},
	}
)

// A server describes the validation of one minor version. It is immutable.
type server struct {
	formatsByType, numberRanges, sizeUnits, tooFew, tooShort bool
	tooLong, missingType                                     string
	metadata                                                 *metadata.Validator
	minor                                                    int
}

// servers holds the servers in use, by minor version.
var servers sync.Map

// serverOf returns the API server of Kubernetes 1.minor.
func serverOf(minor int) *server {
	if s, ok := servers.Load(minor); ok {
		return s.(*server)
	}
	s := newServer(minor)
	servers.Store(minor, s)
	return s
}

func newServer(minor int) *server {
	return &server{
		formatsByType: formatsByType.Include(minor),
		numberRanges:  numberRanges.Include(minor),
		sizeUnits:     sizeUnits.Include(minor),
		tooFew:        tooFew.Include(minor),
		tooShort:      tooShort.Include(minor),
		tooLong:       tooLong.For(minor),
		missingType:   missingType.For(minor),
		metadata:      metadata.For(minor),
		minor:         minor,
	}
}

// tooLongError returns the error for a string of more than limit characters.
func (s *server) tooLongError(path *field.Path, limit int64) *field.Error {
	err := field.TooLong(path, "", int(limit))
	err.Detail = fmt.Sprintf(s.tooLong, limit)
	if limit == 1 && s.sizeUnits {
		err.Detail = "may not be more than 1 byte"
	}
	return err
}

// tooManyError returns the error for a list or an object with n of at most limit entries.
func (s *server) tooManyError(path *field.Path, n, limit int64) *field.Error {
	err := field.TooMany(path, int(n), int(limit))
	err.Detail = fmt.Sprintf("must have at most %d items", limit)
	if limit == 1 && s.sizeUnits {
		err.Detail = "must have at most 1 item"
	}
	return err
}

// tooFewError returns the error for a list or an object with n of at least limit entries. Old releases
// of package field do not declare its type.
func tooFewError(path *field.Path, n, limit int64) *field.Error {
	detail := fmt.Sprintf("must have at least %d items", limit)
	if limit == 1 {
		detail = "must have at least 1 item"
	}
	return &field.Error{Type: "FieldValueTooFew", Field: path.String(), BadValue: int(n), Detail: detail}
}

// tooShortError returns the error for a string of less than limit characters. Old releases of package
// field do not declare its type.
func tooShortError(path *field.Path, value any, limit int64) *field.Error {
	detail := fmt.Sprintf("must be at least %d characters", limit)
	if limit == 1 {
		detail = "must be at least 1 character"
	}
	return &field.Error{Type: "FieldValueTooShort", Field: path.String(), BadValue: value, Detail: detail}
}
