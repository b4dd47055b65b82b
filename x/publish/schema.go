package publish

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/internal/text/schemawords"
)

// node is a schema decoded from JSON. Numbers are float64, as in kubectl.
type node = schemawords.Node

// published returns the schema of a version as a server publishes it in OpenAPI v3: the structural schema with the
// fields that every object has. If the schema is not structural, it is just an object.
func published(v *apiextensionsv1.CustomResourceDefinitionVersion) (node, error) {
	s := structuralOf(v)
	if s == nil {
		return node{"type": "object"}, nil
	}
	root, err := decoded(s.Unfold())
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", v.Name, err)
	}
	words := metav1.TypeMeta{}.SwaggerDoc()
	addMeta(root, words["apiVersion"], words["kind"])
	embedded(root)
	return root, nil
}

func decoded(s *schema.Structural) (root node, err error) {
	data, err := json.Marshal(s.ToKubeOpenAPI())
	if err != nil {
		return nil, err
	}
	return root, json.Unmarshal(data, &root)
}

// structuralOf returns nil if the schema is missing or not structural.
func structuralOf(v *apiextensionsv1.CustomResourceDefinitionVersion) *schema.Structural {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil
	}
	s, err := structural.Node(v.Schema.OpenAPIV3Schema)
	if err != nil || len(schema.ValidateStructural(nil, s)) > 0 {
		return nil
	}
	return s
}

func addMeta(object node, apiVersion, kind string) {
	properties := object.Child("properties")
	if properties == nil {
		properties = node{}
		object["properties"] = map[string]any(properties)
	}
	meta := goType(reflect.TypeFor[metav1.ObjectMeta]())
	meta["description"] = metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]
	properties["apiVersion"] = map[string]any{"type": "string", "description": apiVersion}
	properties["kind"] = map[string]any{"type": "string", "description": kind}
	properties["metadata"] = meta
}

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
	addMeta(s, embeddedAPIVersion, embeddedKind)
	required, _ := s["required"].([]any)
	for _, name := range []any{"kind", "apiVersion"} {
		if !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	s["required"] = required
}

// Descriptions that servers publish for apiVersion and kind in embedded objects. Those at the root are longer.
const (
	embeddedAPIVersion = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKind       = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

// definitions returns the schemas of the types that metadata refers to, by name. They are derived from the Go types,
// because OpenAPI's own definitions have the same content but depend on a web framework.
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
