package respond

import (
	"errors"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The messages until 1.33 follow ErrorBody in k8s.io/apimachinery/pkg/util/validation/field/errors.go of 0.33; later
// ones are also compared with the linked release.
func TestBody(t *testing.T) {
	t.Parallel()
	path := field.NewPath("x")
	at := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	seconds := int64(3)
	for _, tt := range []struct {
		value         any
		before, since string
	}{
		{"a\"<", `"a\"<"`, `"a\"<"`},
		{int64(5), "5", "5"},
		{1e21, "1e+21", "1e+21"},
		{true, "true", "true"},
		{5, "5", "5"},
		{nil, `"null"`, "null"},
		{(*int64)(nil), `"null"`, "null"},
		{&seconds, "3", "3"},
		{map[string]any{"b": []any{nil, 1.5, int64(1), "<"}, "a": map[string]any{}}, `map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{interface {}(nil), 1.5, 1, "<"}}`, `{"a":{},"b":[null,1.5,1,"\u003c"]}`},
		{[]string{"a"}, `[]string{"a"}`, `["a"]`},
		{at, "2024-01-01 00:00:00 +0000 UTC", `"2024-01-01T00:00:00Z"`},
		{&at, "2024-01-01 00:00:00 +0000 UTC", `"2024-01-01T00:00:00Z"`},
		{metav1.Time{}, "0001-01-01 00:00:00 +0000 UTC", "null"},
		{types.UID("<"), `"<"`, `"\u003c"`},
		{metav1.OwnerReference{APIVersion: "v1", Kind: "Event", Name: "x", UID: "1"}, `v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"x", UID:"1", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}`, `{"apiVersion":"v1","kind":"Event","name":"x","uid":"1"}`},
		{[]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "1", Controller: new(bool)}, {}}, `[]v1.OwnerReference{v1.OwnerReference{APIVersion:"v1", Kind:"Pod", Name:"x", UID:"1", Controller:(*bool)(0xc000000000), BlockOwnerDeletion:(*bool)(nil)}, v1.OwnerReference{APIVersion:"", Kind:"", Name:"", UID:"", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}}`, `[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"1","controller":false},{"apiVersion":"","kind":"","name":"","uid":""}]`},
		{math.Inf(1), "+Inf", "+Inf"},
		{[]float64{math.Inf(1)}, "[]float64{+Inf}", "[]float64{+Inf}"},
		{field.OmitValueType{}, "", ""},
	} {
		err := field.Invalid(path, tt.value, "detail")
		for minor, want := range map[int]string{28: tt.before, 33: tt.before, 34: tt.since, 37: tt.since} {
			if want != "" {
				want += ": "
			}
			if got, want := RendererFor(minor).Error(err), "x: Invalid value: "+want+"detail"; got != want {
				t.Errorf("1.%d: got %s\nwant %s", minor, got, want)
			}
		}
		if got, want := RendererFor(37).Error(err), err.Error(); got != want {
			t.Errorf("got %s\nlinked %s", got, want)
		}
	}
}

func TestBodyTypes(t *testing.T) {
	t.Parallel()
	path := field.NewPath("x")
	for _, err := range []*field.Error{
		field.TypeInvalid(path, 1, "d"), field.NotFound(path, "v"), field.Required(path, ""), field.Required(path, "d"),
		field.Duplicate(path, map[string]any{"a": 1}), field.NotSupported(path, "v", []string{"a"}), field.Forbidden(path, "d"),
		field.TooLong(path, "", 1), field.TooMany(path, 3, 2), field.TooMany(path, -1, 2), field.TooFew(path, 3, 2),
		field.TooShort(path, "v", 2), field.InternalError(path, errors.New("e")),
	} {
		if got, want := RendererFor(37).Error(err), err.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
