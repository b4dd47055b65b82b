package vet

import (
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

func (a *admission) rewordDefaults() {
	var types map[string]bool
	for _, err := range a.errs {
		if !strings.Contains(err.Field, ".default") {
			continue
		}
		if types == nil {
			types = a.embeddedTypes()
		}
		schema.Reword(err, a.version.Minor, types[err.Field])
		if err.Type == field.ErrorTypeRequired {
			delete(types, err.Field) // the schema can require the field as well
		}
	}
}

func (a *admission) embeddedTypes() map[string]bool {
	e := embeddedFinder{}
	for _, u := range a.units {
		if u.root != nil {
			root := *u.root
			root.XEmbeddedResource = true // for the default of the whole object
			e.schema(&root, u.schemaPath())
		}
	}
	return e
}

type embeddedFinder map[string]bool

func (e embeddedFinder) schema(s *apiextensions.JSONSchemaProps, path *field.Path) {
	if s == nil {
		return
	}
	if s.Default != nil {
		e.value(s, *s.Default, path.Child("default"))
	}
	for name, p := range s.Properties {
		e.schema(&p, path.Child("properties").Key(name))
	}
	if s.Items != nil {
		e.schema(s.Items.Schema, path.Child("items"))
	}
	if s.AdditionalProperties != nil {
		e.schema(s.AdditionalProperties.Schema, path.Child("additionalProperties"))
	}
}

func (e embeddedFinder) value(s *apiextensions.JSONSchemaProps, value any, path *field.Path) {
	if s == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			e[path.Child("apiVersion").String()], e[path.Child("kind").String()] = true, true
		}
		for name, item := range value {
			if p, ok := s.Properties[name]; ok {
				e.value(&p, item, path.Child(name))
			} else if s.AdditionalProperties != nil {
				e.value(s.AdditionalProperties.Schema, item, path.Key(name))
			}
		}
	case []any:
		for i, item := range value {
			if s.Items != nil {
				e.value(s.Items.Schema, item, path.Index(i))
			}
		}
	}
}
