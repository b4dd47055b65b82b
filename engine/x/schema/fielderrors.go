package schema

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
)

// fieldErrors converts the report's errors to the API server's form. Equal messages are reported
// once. Errors that have no field get path itself.
func (r *report) fieldErrors(path *field.Path, by *server) field.ErrorList {
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

func (s *server) fieldError(err *openapierrors.Validation, path *field.Path) *field.Error {
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
		if s.tooFew {
			return tooFewError(path, err.Value.(int64), err.Valid.(int64))
		}
	case openapierrors.TooShortFailCode:
		if s.tooShort {
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
