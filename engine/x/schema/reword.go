package schema

import (
	"fmt"
	"regexp"
	"strconv"

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
	case field.ErrorTypeInvalid:
		s.rewordLow(err)
	case field.ErrorTypeRequired:
		if ofType && err.Detail == "" {
			err.Detail = s.missingType
		}
	}
}

// lowText matches the messages for strings, lists, and objects that are too small.
var lowText = regexp.MustCompile(`in body should (be|have) at least (\d+) (?:chars long|items|properties)$`)

// rewordLow replaces an error about a value that is too small by one of its own type, if the version has it.
func (s *server) rewordLow(err *field.Error) {
	m := lowText.FindStringSubmatch(err.Detail)
	if m == nil {
		return
	}
	limit, _ := strconv.ParseInt(m[2], 10, 64)
	own := err
	if isText := m[1] == "be"; isText && s.tooShort {
		own = tooShortError(nil, nil, limit)
	} else if !isText && s.tooFew {
		own = tooFewError(nil, 0, limit)
	}
	err.Type, err.Detail = own.Type, own.Detail
}
