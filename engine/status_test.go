package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/types"
)

func TestBodyOf(t *testing.T) {
	t.Parallel()
	kinds := []field.ErrorType{field.ErrorTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeForbidden, field.ErrorTypeDuplicate, field.ErrorTypeTypeInvalid}
	values := []any{nil, field.OmitValueType{}, "", "a\"\n\x00é\xff", int64(1), 1.5, true, map[string]any{"a": "b"}, []any{1}}
	for _, kind := range kinds {
		for _, value := range values {
			for _, detail := range []string{"", "why: %s"} {
				err := &field.Error{Type: kind, Field: "x", BadValue: value, Detail: detail}
				if got, want := server(types.Newest).bodyOf(err), err.ErrorBody(); got != want {
					t.Errorf("%v %v: got %q, want %q", kind, value, got, want)
				}
			}
		}
	}
}
