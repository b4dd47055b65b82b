// Package structural reads the schema of one version of a CRD.
package structural

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
)

// Open is the schema of a version whose CRD has preserveUnknownFields, as only
// one that was stored long ago can: it may be missing, or not structural, and
// then it checks values and does nothing else. Such a CRD's defaults are not
// pruned.
func Open(source *apiextensionsv1.CustomResourceValidation) (*apiextensionsv1.JSONSchemaProps, *schema.Structural, error) {
	open := &schema.Structural{Generic: schema.Generic{Type: "object"}, Extensions: schema.Extensions{XPreserveUnknownFields: true}}
	if source == nil || source.OpenAPIV3Schema == nil {
		return &apiextensionsv1.JSONSchemaProps{}, open, nil
	}
	s, err := Node(source.OpenAPIV3Schema)
	if err == nil {
		return source.OpenAPIV3Schema, s, nil
	}
	var whole apiextensions.JSONSchemaProps
	if unread := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(source.OpenAPIV3Schema, &whole, nil); unread != nil {
		return nil, nil, fmt.Errorf("schema: %w", unread) // a value in it is not JSON
	}
	return source.OpenAPIV3Schema, open, nil
}

// Of is a version's schema, in the form that validates values and as a structural
// one with pruned defaults. They share no default.
func Of(source *apiextensionsv1.CustomResourceValidation) (*apiextensionsv1.JSONSchemaProps, *schema.Structural, error) {
	if source == nil || source.OpenAPIV3Schema == nil {
		return nil, nil, errors.New("no schema: want schema.openAPIV3Schema")
	}
	s, err := Node(source.OpenAPIV3Schema)
	if err != nil {
		return nil, nil, fmt.Errorf("schema is not structural: %w", err)
	}
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return source.OpenAPIV3Schema, s, nil
}
