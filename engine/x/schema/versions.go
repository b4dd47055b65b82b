package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/celadon-cel/celadon/internal/minors"
)

// The differences between the API servers of different minor versions.
var (
	// formatsByType: a format applies only to the type for which it is defined. In older versions,
	// the type did not matter, and formats of numbers were ignored.
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
	// tooShort: a string that is too short is an error of its own type.
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

type server int

func (s server) has(in minors.Range) bool { return in.Include(int(s)) }

func limitText(format string, limit int64, units bool) string {
	text := fmt.Sprintf(format, limit)
	if units && limit == 1 {
		return strings.TrimSuffix(text, "s")
	}
	return text
}

func (s server) tooLongError(path *field.Path, limit int64) *field.Error {
	err := field.TooLong(path, "", int(limit))
	err.Detail = limitText(tooLong.For(int(s)), limit, s.has(sizeUnits))
	return err
}

func (s server) tooManyError(path *field.Path, n, limit int64) *field.Error {
	err := field.TooMany(path, int(n), int(limit))
	err.Detail = limitText("must have at most %d items", limit, s.has(sizeUnits))
	return err
}

// Old releases of package field do not declare these types.
const (
	typeTooFew   field.ErrorType = "FieldValueTooFew"
	typeTooShort field.ErrorType = "FieldValueTooShort"
)

func tooFewError(path *field.Path, n, limit int64) *field.Error {
	return &field.Error{Type: typeTooFew, Field: path.String(), BadValue: int(n), Detail: limitText("must have at least %d items", limit, true)}
}

func tooShortError(path *field.Path, value any, limit int64) *field.Error {
	return &field.Error{Type: typeTooShort, Field: path.String(), BadValue: value, Detail: limitText("must be at least %d characters", limit, true)}
}

// Reword gives err the text of Kubernetes 1.minor. err is an error that the linked release found in a value, such as
// a default. ofType is set if err may be about the missing type of an embedded resource.
func Reword(err *field.Error, minor int, ofType bool) {
	s := server(minor)
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
			err.Detail = missingType.For(minor)
		}
	}
}

var lowText = regexp.MustCompile(`in body should (be|have) at least (\d+) (?:chars long|items|properties)$`)

func (s server) rewordLow(err *field.Error) {
	m := lowText.FindStringSubmatch(err.Detail)
	if m == nil {
		return
	}
	limit, _ := strconv.ParseInt(m[2], 10, 64)
	own := err
	if isText := m[1] == "be"; isText && s.has(tooShort) {
		own = tooShortError(nil, nil, limit)
	} else if !isText && s.has(tooFew) {
		own = tooFewError(nil, 0, limit)
	}
	err.Type, err.Detail = own.Type, own.Detail
}

// Equal messages are reported once. Errors without a field get path.
func (r *report) fieldErrors(path *field.Path, by server) field.ErrorList {
	if len(r.errs) == 0 {
		return nil
	}
	var out field.ErrorList
	seen := make(map[string]struct{}, len(r.errs))
	for _, err := range r.errs {
		text := err.Error()
		if _, ok := seen[text]; ok {
			continue
		}
		seen[text] = struct{}{}
		if v, ok := err.(*openapierrors.Validation); ok {
			out = append(out, by.fieldError(v, path))
		} else {
			out = append(out, field.Invalid(path, "", text))
		}
	}
	return out
}

func (s server) fieldError(err *openapierrors.Validation, path *field.Path) *field.Error {
	if err.Name != "" && err.Name != "." {
		path = path.Child(strings.TrimPrefix(err.Name, "."))
	}
	switch err.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		return field.NotSupported(path, err.Value, supportedValues(err.Values))
	case openapierrors.TooLongFailCode:
		return s.tooLongError(path, err.Valid.(int64))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return s.tooManyError(path, err.Value.(int64), err.Valid.(int64))
	case openapierrors.MinItemsFailCode, openapierrors.TooFewPropertiesCode:
		if s.has(tooFew) {
			return tooFewError(path, err.Value.(int64), err.Valid.(int64))
		}
	case openapierrors.TooShortFailCode:
		if s.has(tooShort) {
			return tooShortError(path, err.Value, err.Valid.(int64))
		}
	}
	value := err.Value
	if value == nil {
		value = ""
	}
	if err.Code() == openapierrors.InvalidTypeCode {
		return field.TypeInvalid(path, value, err.Error())
	}
	return field.Invalid(path, value, err.Error())
}

func supportedValues(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		s, ok := v.(string)
		if !ok {
			b, _ := json.Marshal(v)
			s = string(b)
		}
		out[i] = s
	}
	return out
}
