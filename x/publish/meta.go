package publish

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Descriptions that servers publish for apiVersion and kind in embedded objects. Those at the root
// are longer.
const (
	embeddedAPIVersion = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKind       = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// typeMeta returns the fields that every object has.
func typeMeta() map[string]any {
	words := metav1.TypeMeta{}.SwaggerDoc()
	return metaFields(words["apiVersion"], words["kind"])
}

func embeddedTypeMeta() map[string]any { return metaFields(embeddedAPIVersion, embeddedKind) }

func metaFields(apiVersion, kind string) map[string]any {
	meta := goType(reflect.TypeFor[metav1.ObjectMeta]())
	meta["description"] = metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]
	return map[string]any{
		"apiVersion": map[string]any{"type": "string", "description": apiVersion},
		"kind":       map[string]any{"type": "string", "description": kind},
		"metadata":   meta,
	}
}

// definitions returns the schemas of the types that metadata refers to, by name. They are derived
// from the Go types, because OpenAPI's own definitions have the same content but depend on a web
// framework.
func definitions() map[string]node {
	all := map[string]node{
		"Time": {"type": "string", "format": "date-time", "description": "Time is a wrapper around time.Time which supports correct marshaling to YAML and JSON.  Wrappers are provided for many of the factory methods that the time package offers."},
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.OwnerReference](),
		reflect.TypeFor[metav1.ManagedFieldsEntry](), reflect.TypeFor[metav1.FieldsV1](),
	} {
		all[t.Name()] = goStruct(t)
	}
	return all
}

// goType returns the schema of a Go type. A struct becomes a reference.
func goType(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return goType(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int64:
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": goType(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": goType(t.Elem())}
	case reflect.Struct:
		return map[string]any{"allOf": []any{map[string]any{"$ref": t.Name()}}}
	}
	return map[string]any{"type": "string"}
}

func goStruct(t reflect.Type) node {
	words := map[string]string{}
	if documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		words = documented.SwaggerDoc()
	}
	properties, required := map[string]any{}, []any{}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		field := goType(t.Field(i).Type)
		field["description"] = words[name]
		properties[name] = field
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return node{"type": "object", "description": words[""], "properties": properties, "required": required}
}
