package respond

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
)

// jsonValues: errors show the rejected value as JSON. Older versions show it in Go syntax. See
// ErrorBody in k8s.io/apimachinery/pkg/util/validation/field/errors.go.
var jsonValues = minors.Since(34)

// A Renderer formats errors as the API server of one minor version does.
type Renderer struct{ jsonValues bool }

// RendererFor returns the renderer of Kubernetes 1.minor.
func RendererFor(minor int) Renderer { return Renderer{jsonValues.Include(minor)} }

// Error returns the text of err.Error() in that version.
func (r Renderer) Error(err *field.Error) string { return err.Field + ": " + r.Body(err) }

// Body returns the text of err.ErrorBody() in that version.
func (r Renderer) Body(err *field.Error) string {
	text, ok := typeTexts[err.Type]
	if !ok {
		text = err.Type.String()
	}
	if showsValue(err) {
		text += ": " + r.value(err.BadValue)
	}
	if err.Detail != "" {
		text += ": " + err.Detail
	}
	return text
}

const errorTypeTooShort field.ErrorType = "FieldValueTooShort"

// Old releases of package field do not declare these error types.
var typeTexts = map[field.ErrorType]string{errorTypeTooShort: "Too short", "FieldValueTooFew": "Too few"}

func showsValue(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeRequired, field.ErrorTypeForbidden, field.ErrorTypeTooLong, errorTypeTooShort, field.ErrorTypeInternal:
		return false
	}
	_, omitted := err.BadValue.(field.OmitValueType)
	return !omitted
}

func (r Renderer) value(v any) string {
	if !r.jsonValues {
		v = pointee(v)
	}
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64, int32, float64, float32, bool:
		return fmt.Sprint(v)
	case []metav1.OwnerReference:
		if !r.jsonValues {
			return ownersInGo(v)
		}
	}
	if r.jsonValues {
		if text, err := json.Marshal(v); err == nil {
			return string(text)
		}
	}
	if v, ok := v.(fmt.Stringer); ok {
		return v.String()
	}
	return fmt.Sprintf("%#v", v)
}

// The server shows the addresses of the pointers in refs, which are random. ownersInGo uses a constant, so that the
// text is reproducible.
func ownersInGo(refs []metav1.OwnerReference) string {
	texts := make([]string, len(refs))
	for i, ref := range refs {
		texts[i] = fmt.Sprintf("v1.OwnerReference{APIVersion:%q, Kind:%q, Name:%q, UID:%q, Controller:%s, BlockOwnerDeletion:%s}",
			ref.APIVersion, ref.Kind, ref.Name, ref.UID, flagInGo(ref.Controller), flagInGo(ref.BlockOwnerDeletion))
	}
	return "[]v1.OwnerReference{" + strings.Join(texts, ", ") + "}"
}

func flagInGo(b *bool) string {
	if b == nil {
		return "(*bool)(nil)"
	}
	return "(*bool)(0xc000000000)"
}

// For nil, pointee returns "null", like the server before jsonValues.
func pointee(v any) any {
	if v == nil {
		return "null"
	}
	p := reflect.ValueOf(v)
	switch {
	case p.Kind() != reflect.Pointer:
		return v
	case p.IsNil():
		return "null"
	}
	return p.Elem().Interface()
}
