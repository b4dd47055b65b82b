package vet

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Mistyped is a value that does not have the type of its field, so a server cannot decode the object.
type Mistyped struct {
	// Path is the path of the value, in the form of engine.FormatPath.
	Path string
	// Want is the type of the field: array, boolean, integer, number, object, string, base64, date-time, quantity, duration,
	// or integer or string.
	Want string
}

// FindMistyped returns the values in a CRD of apiextensions.k8s.io/v1, or in the metadata of a custom resource,
// that do not have the type of their field, at most 100, in the order of their paths. object has the form that
// engine.Decode returns.
func FindMistyped(object map[string]any) []Mistyped {
	t := reflect.TypeFor[metav1.PartialObjectMetadata]()
	if object["apiVersion"] == apiextensionsv1.SchemeGroupVersion.String() && object["kind"] == crdKind {
		t = reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	}
	return FindMistypedAs(object, t)
}

// FindMistypedAs is FindMistyped for an object of a Go type.
func FindMistypedAs(object map[string]any, t reflect.Type) []Mistyped {
	w := typeWalk{fields: fieldTable{}}
	w.value(object, t, nil)
	return w.found
}

type typeWalk struct {
	fields fieldTable
	found  []Mistyped
}

// value looks for values of another type at and below a value for a field of type t.
func (w *typeWalk) value(v any, t reflect.Type, path []engine.Step) {
	t, decodesItself := schemaType(t)
	want, is := jsonType(t), TypeOf(v)
	if v == nil || len(w.found) == maxUnknownKeys {
		return
	}
	if want == "" {
		w.parsed(v, t, path)
		return
	}
	switch items, isList := v.([]any); {
	case isList && (want == "array" || decodesItself):
		for i, item := range items {
			if _, isText := item.(string); !decodesItself {
				w.value(item, t.Elem(), append(path, engine.Step{Item: true, Index: i}))
			} else if !isText { // a dependency
				w.value(item, t, append(path, engine.Step{Item: true, Index: i}))
			}
		}
	case is == "object" && want == is:
		fields := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if t.Kind() == reflect.Map {
				w.value(fields[name], t.Elem(), append(path, engine.Step{Name: name}))
			} else if below := w.fields.of(t)[name]; below != nil {
				w.value(fields[name], below, append(path, engine.Step{Name: name}))
			}
		}
	case is == want, is == "integer" && want == "number", is == "boolean" && decodesItself, want == "date-time" && isTime(v), want == "base64" && isBase64(v):
	default:
		w.found = append(w.found, Mistyped{engine.FormatPath(path), want})
	}
}

// parsed looks for a value that its type cannot parse, such as a quantity.
func (w *typeWalk) parsed(v any, t reflect.Type, path []engine.Step) {
	if !parses(t) {
		return
	}
	want := map[string]string{"Quantity": "quantity", "IntOrString": "integer or string", "Duration": "duration"}[t.Name()]
	data, err := json.Marshal(v)
	if err == nil && len(data) <= maxParsed && want != "" && json.Unmarshal(data, reflect.New(t).Interface()) != nil {
		w.found = append(w.found, Mistyped{engine.FormatPath(path), want})
	}
}

// maxParsed limits the values that are parsed, in bytes. Parsing a quantity takes time that is quadratic in its length.
const maxParsed = 100

// parses reports whether a type is parsed from a string: a quantity, an int-or-string, or a duration.
func parses(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ OpenAPISchemaType() []string }]())
}

// jsonType returns the type that a Go type decodes from, or "" if it accepts any type or parses a string.
func jsonType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "date-time"
	case reflect.TypeFor[apiextensionsv1.JSON](), reflect.TypeFor[metav1.FieldsV1]():
		return ""
	case reflect.TypeFor[[]byte]():
		return "base64"
	}
	if parses(t) {
		return ""
	}
	return map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Float64: "number",
		reflect.Map: "object", reflect.Struct: "object", reflect.Slice: "array",
	}[t.Kind()]
}

func isTime(v any) bool {
	text, _ := v.(string)
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func isBase64(v any) bool {
	text, ok := v.(string)
	_, err := base64.StdEncoding.DecodeString(text)
	return ok && err == nil
}

// TypeOf returns the OpenAPI type of a decoded value, or "null".
func TypeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if v != float64(int64(v)) {
			return "number"
		}
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "integer"
}
