// Package structural converts the schema of a CRD version to a structural schema.
package structural

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Open returns the schema of a version whose CRD has preserveUnknownFields. Only CRDs that were
// stored long ago can have it. If their schema is missing or not structural, it only validates
// values, and the structural schema accepts any fields. Defaults of such CRDs are not pruned.
func Open(source *apiextensionsv1.CustomResourceValidation) (*apiextensionsv1.JSONSchemaProps, *schema.Structural, error) {
	open := &schema.Structural{Generic: schema.Generic{Type: "object"}, Extensions: schema.Extensions{XPreserveUnknownFields: true}}
	if source = encoded(source); source == nil || source.OpenAPIV3Schema == nil {
		return &apiextensionsv1.JSONSchemaProps{}, open, nil
	}
	s, err := Node(source.OpenAPIV3Schema)
	if err == nil {
		return source.OpenAPIV3Schema, s, nil
	}
	var whole apiextensions.JSONSchemaProps
	if unread := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(source.OpenAPIV3Schema, &whole, nil); unread != nil {
		return nil, nil, fmt.Errorf("schema: %w", unread) // it contains a value that is not JSON
	}
	return source.OpenAPIV3Schema, open, nil
}

// Of returns the schema of a version twice: in the form that validates values, and as a structural
// schema with pruned defaults. The two share no defaults. Both are of the encoded schema, see Encoded.
func Of(source *apiextensionsv1.CustomResourceValidation) (*apiextensionsv1.JSONSchemaProps, *schema.Structural, error) {
	if source = encoded(source); source == nil || source.OpenAPIV3Schema == nil {
		return nil, nil, errors.New("no schema: want schema.openAPIV3Schema")
	}
	s, err := Node(source.OpenAPIV3Schema)
	if err != nil {
		return nil, nil, fmt.Errorf("schema is not structural: %w", err)
	}
	if err := PruneDefaults(s); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return source.OpenAPIV3Schema, s, nil
}
