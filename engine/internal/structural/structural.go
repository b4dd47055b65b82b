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
func Open(source *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, *schema.Structural, error) {
	open := &schema.Structural{Generic: schema.Generic{Type: "object"}, Extensions: schema.Extensions{XPreserveUnknownFields: true}}
	if source == nil || source.OpenAPIV3Schema == nil {
		return &apiextensions.JSONSchemaProps{}, open, nil
	}
	props, err := internal(source)
	if err != nil {
		return nil, nil, err
	}
	if s, err := schema.NewStructural(props); err == nil {
		return props, s, nil
	}
	return props, open, nil
}

// Of is a version's schema, in the form that validates values and as a structural
// one with pruned defaults. They share no default with the CRD: the conversion
// decodes these.
func Of(source *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, *schema.Structural, error) {
	if source == nil || source.OpenAPIV3Schema == nil {
		return nil, nil, errors.New("no schema: want schema.openAPIV3Schema")
	}
	props, err := internal(source)
	if err != nil {
		return nil, nil, err
	}
	s, err := schema.NewStructural(props)
	if err != nil {
		return nil, nil, fmt.Errorf("schema is not structural: %w", err)
	}
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return props, s, nil
}

func internal(source *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	out := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(source, out, nil); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return out.OpenAPIV3Schema, nil
}
