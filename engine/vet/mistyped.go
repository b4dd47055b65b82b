package vet

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
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
	w.value(object, t, nil, false)
	return w.mistyped
}

type typeWalk struct {
	fields    fieldTable
	mistyped  []Mistyped
	keys      []UnknownKey
	seeksKeys bool
}

// The server also limits the errors of strict decoding.
const maxFound = 100

// value compares v, a value for a field of type t, and the values below it. lost is set if strict decoding does not
// reach v.
func (w *typeWalk) value(v any, t reflect.Type, path []engine.Step, lost bool) {
	t, decodesItself := schemaType(t)
	want, is := jsonType(t), TypeOf(v)
	lost = lost || decodesItself
	if v == nil {
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
				w.value(item, t.Elem(), append(path, engine.Step{Item: true, Index: i}), lost)
			} else if !isText { // a dependency
				w.value(item, t, append(path, engine.Step{Item: true, Index: i}), lost)
			}
		}
	case is == "object" && want == is:
		fields := v.(map[string]any)
		for _, name := range sortedKeys(fields) {
			w.field(fields, name, t, append(path, engine.Step{Name: name}), lost)
		}
	case is == want, is == "integer" && want == "number", is == "boolean" && decodesItself, want == "base64" && isBase64(v):
	default:
		w.add(path, want)
	}
}

func (w *typeWalk) field(object map[string]any, name string, t reflect.Type, path []engine.Step, lost bool) {
	if t.Kind() == reflect.Map {
		w.value(object[name], t.Elem(), path, lost)
		return
	}
	fields := w.fields.of(t)
	if fields[name] == nil && w.seeksKeys && len(w.keys) < maxFound {
		key := UnknownKey{Path: engine.FormatPath(path), Dropped: lost, steps: slices.Clone(path), near: spell.Near(name, sortedKeys(fields))}
		if len(key.near) == 1 {
			if _, taken := object[key.near[0]]; !taken {
				key.Known = key.near[0]
			}
		}
		w.keys = append(w.keys, key)
		name, lost = key.Known, true
	}
	if below := fields[name]; below != nil {
		w.value(object[path[len(path)-1].Name], below, path, lost)
	}
}

func (w *typeWalk) add(path []engine.Step, want string) {
	if len(w.mistyped) < maxFound {
		w.mistyped = append(w.mistyped, Mistyped{engine.FormatPath(path), want})
	}
}

func (w *typeWalk) parsed(v any, t reflect.Type, path []engine.Step) {
	if !parses(t) {
		return
	}
	want := map[string]string{
		"Quantity": "quantity", "IntOrString": "integer or string", "Duration": "duration", "Time": "date-time", "MicroTime": "date-time",
	}[t.Name()]
	data, err := json.Marshal(v)
	if err == nil && len(data) <= maxParsed && want != "" && json.Unmarshal(data, reflect.New(t).Interface()) != nil {
		w.add(path, want)
	}
}

// Parsing a quantity takes time that is quadratic in its length, so longer values, in bytes, are not parsed.
const maxParsed = 100

// A quantity, an int-or-string, or a duration decodes itself.
func parses(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ OpenAPISchemaType() []string }]())
}

// jsonType returns "" if t accepts any type or parses a string.
func jsonType(t reflect.Type) string {
	switch t {
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
