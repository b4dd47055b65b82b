package publish

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/internal/text/schemawords"
)

// node is a schema decoded from JSON. Numbers are float64, as in kubectl.
type node = schemawords.Node

// published returns the schema of a version as a server publishes it in OpenAPI v3: the structural
// schema with the fields that every object has. If the schema is not structural, it is just an
// object.
func published(v *apiextensionsv1.CustomResourceDefinitionVersion) (node, error) {
	s := structural(v)
	if s == nil {
		return node{"type": "object"}, nil
	}
	root, err := decoded(s.Unfold())
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", v.Name, err)
	}
	addMeta(root, typeMeta())
	embedded(root)
	return root, nil
}

// decoded returns a structural schema as JSON.
func decoded(s *structuralschema.Structural) (root node, err error) {
	data, err := json.Marshal(s.ToKubeOpenAPI())
	if err != nil {
		return nil, err
	}
	return root, json.Unmarshal(data, &root)
}

func structural(v *apiextensionsv1.CustomResourceDefinitionVersion) *structuralschema.Structural {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil || len(structuralschema.ValidateStructural(nil, s)) > 0 {
		return nil
	}
	return s
}

// addMeta adds fields, such as apiVersion and kind, to an object's properties.
func addMeta(object node, fields map[string]any) {
	properties := object.Child("properties")
	if properties == nil {
		properties = node{}
		object["properties"] = map[string]any(properties)
	}
	for name, field := range fields {
		properties[name] = field
	}
}

// embedded adds the fields of every object to embedded resources.
func embedded(s node) {
	properties := s.Child("properties")
	for name := range properties {
		embedded(properties.Child(name))
	}
	for _, below := range []string{"items", "additionalProperties"} {
		if child := s.Child(below); child != nil {
			embedded(child)
		}
	}
	if s["x-kubernetes-embedded-resource"] != true {
		return
	}
	addMeta(s, embeddedTypeMeta())
	required, _ := s["required"].([]any)
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	s["required"] = required
}

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
