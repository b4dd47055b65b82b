package fakeclient

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	modelPrefix = "#/components/schemas/"
	objectMeta  = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

// structural returns the structural schema of a version, with defaults pruned as in the server.
func structural(v *apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, internal, nil); err != nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	s = s.DeepCopy()
	return s, structuraldefaulting.PruneDefaults(s)
}

// typeConverter returns a converter for the list and map types of all versions of a CRD.
func typeConverter(crd *apiextensionsv1.CustomResourceDefinition, schemas map[string]*structuralschema.Structural) (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{}
	ref := func(name string) spec.Ref { return spec.MustCreateRef(modelPrefix + name) }
	for name, definition := range generatedopenapi.GetOpenAPIDefinitions(ref) {
		models[name] = &definition.Schema
	}
	for version, s := range schemas {
		model := s.Unfold().ToKubeOpenAPI()
		embed(model, true)
		model.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": crd.Spec.Group, "version": version, "kind": crd.Spec.Names.Kind},
		})
		models[fmt.Sprintf("%s.%s.%s", crd.Spec.Group, version, crd.Spec.Names.Kind)] = model
	}
	return managedfields.NewTypeConverter(models, crd.Spec.PreserveUnknownFields)
}

// embed adds the fields of objects that their schemas omit, such as apiVersion and metadata.
func embed(s *spec.Schema, object bool) {
	if s == nil {
		return
	}
	for name := range s.Properties {
		property := s.Properties[name]
		embed(&property, false)
		s.Properties[name] = property
	}
	if s.Items != nil {
		embed(s.Items.Schema, false)
	}
	if s.AdditionalProperties != nil {
		embed(s.AdditionalProperties.Schema, false)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); embedded || object {
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
		s.SetProperty("metadata", *spec.RefSchema(modelPrefix + objectMeta))
	}
}
