package types

import (
	"maps"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// withMetadata declares apiVersion, kind, metadata.name, and metadata.generateName. It returns s if s declares all of
// them.
func (v Version) withMetadata(s *schema.Structural) *schema.Structural {
	if declaresMetadata(s) {
		return s
	}
	root := &schema.Structural{
		Generic: s.Generic, Extensions: s.Extensions,
		ValueValidation: s.ValueValidation, ValidationExtensions: s.ValidationExtensions,
	}
	if rootMaps.Include(v.Minor) {
		root.AdditionalProperties = s.AdditionalProperties
	}
	text := schema.Structural{Generic: schema.Generic{Type: "string"}}
	name, generateName := text, text
	if nameLength.Include(v.Minor) {
		declared := s.Properties["metadata"].Properties
		name = boundedStringSchema(validation.DNS1123SubdomainMaxLength, declared["name"])
		generateName = boundedStringSchema(validation.DNS1123SubdomainMaxLength-1, declared["generateName"]) // a suffix follows
	}
	root.Properties = make(map[string]schema.Structural, len(s.Properties)+3)
	maps.Copy(root.Properties, s.Properties)
	root.Properties["apiVersion"], root.Properties["kind"] = text, text
	root.Properties["metadata"] = schema.Structural{
		Generic:    schema.Generic{Type: "object"},
		Properties: map[string]schema.Structural{"name": name, "generateName": generateName},
	}
	return root
}

func declaresMetadata(s *schema.Structural) bool {
	metadata := s.Properties["metadata"]
	return s.Properties["kind"].Type == "string" && s.Properties["apiVersion"].Type == "string" &&
		metadata.Type == "object" && metadata.Properties["name"].Type == "string" && metadata.Properties["generateName"].Type == "string"
}

// The declared maximum length applies if it is smaller than limit.
func boundedStringSchema(limit int, declared schema.Structural) schema.Structural {
	length := int64(limit)
	if v := declared.ValueValidation; v != nil && v.MaxLength != nil {
		length = min(length, *v.MaxLength)
	}
	return schema.Structural{Generic: schema.Generic{Type: "string"}, ValueValidation: &schema.ValueValidation{MaxLength: &length}}
}
