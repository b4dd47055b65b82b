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

// Of is a version's schema, in the form that validates values and as a structural
// one with pruned defaults. They share no default with the CRD: the conversion
// decodes these.
func Of(source *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, *schema.Structural, error) {
	if source == nil || source.OpenAPIV3Schema == nil {
		return nil, nil, errors.New("no schema: want schema.openAPIV3Schema")
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(source, internal, nil); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	s, err := schema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, nil, fmt.Errorf("schema is not structural: %w", err)
	}
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return internal.OpenAPIV3Schema, s, nil
}
