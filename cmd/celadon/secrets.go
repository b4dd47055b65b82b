package main

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

// secrets are the strings of objects that the schema calls passwords.
func (def *definition) secrets(objects ...map[string]any) report.Secrets {
	var found report.Secrets
	if def.crd == nil {
		return nil // the shell's: its user has the object open
	}
	for _, obj := range objects {
		_, version, _ := strings.Cut(identify(obj).APIVersion, "/")
		for i := range def.crd.Spec.Versions {
			if v := &def.crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
				found = passwords(v.Schema.OpenAPIV3Schema, obj, found)
			}
		}
	}
	return found
}

func passwords(s *apiextensionsv1.JSONSchemaProps, v any, found report.Secrets) report.Secrets {
	if s == nil {
		return found
	}
	switch v := v.(type) {
	case string:
		if v != "" && s.Format == "password" {
			found = append(found, v)
		}
	case []any:
		if s.Items != nil {
			for _, item := range v {
				found = passwords(s.Items.Schema, item, found)
			}
		}
	case map[string]any:
		for name, value := range v {
			if prop, ok := s.Properties[name]; ok {
				found = passwords(&prop, value, found)
			} else if s.AdditionalProperties != nil {
				found = passwords(s.AdditionalProperties.Schema, value, found)
			}
		}
	}
	return found
}
