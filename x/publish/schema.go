package publish

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

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

// addMeta adds apiVersion, kind, and metadata to an object's properties.
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
