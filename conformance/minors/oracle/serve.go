package main

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type servedResource struct {
	*Resource
	resource, status Strategy
}

func (s *service) resource(data []byte, version string) (*servedResource, error) {
	key := version + "\x00" + string(data)
	if s.last != nil && s.lastKey == key {
		return s.last, nil
	}
	internal, err := decodeCRD(data)
	if err != nil {
		return nil, err
	}
	crd, err := toV1(internal)
	if err != nil {
		return nil, err
	}
	r, err := serve(crd, version)
	if err != nil {
		return nil, err
	}
	s.last, s.lastKey = &servedResource{Resource: r}, key
	s.last.resource, s.last.status = newStrategies(r)
	return s.last, nil
}

func serve(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Resource, error) {
	r := &Resource{
		Typer:           crdserverscheme.NewUnstructuredObjectTyper(),
		Kind:            schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind},
		NamespaceScoped: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == version {
			r.Version = &crd.Spec.Versions[i]
		}
	}
	if r.Version == nil {
		return nil, fmt.Errorf("the CRD has no version %q", version)
	}
	props, err := internalSchema(crd, version)
	if err != nil {
		return nil, err
	}
	if err := r.setSchema(props); err != nil {
		return nil, err
	}
	return r, r.setSubresources(crd, props)
}

// internalSchema returns nil for a version without schema.
func internalSchema(crd *apiextensionsv1.CustomResourceDefinition, version string) (*apiextensions.JSONSchemaProps, error) {
	v1, err := apihelpers.GetSchemaForVersion(crd, version)
	if err != nil || v1 == nil {
		return nil, err
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := scheme.Convert(v1, internal, nil); err != nil {
		return nil, err
	}
	return internal.OpenAPIV3Schema, nil
}

func (r *Resource) setSchema(props *apiextensions.JSONSchemaProps) (err error) {
	if props != nil {
		if r.Structural, err = structuralschema.NewStructural(props); err != nil {
			return err
		}
		r.Structural = r.Structural.DeepCopy() // pruning modifies the defaults
		if err := defaulting.PruneDefaults(r.Structural); err != nil {
			return err
		}
		r.Rules = cel.NewValidator(r.Structural, true, celconfig.PerCallLimit)
	}
	r.Validator, _, err = validation.NewSchemaValidator(props)
	return err
}

func (r *Resource) setSubresources(crd *apiextensionsv1.CustomResourceDefinition, props *apiextensions.JSONSchemaProps) (err error) {
	subresources, err := apihelpers.GetSubresourcesForVersion(crd, r.Version.Name)
	if err != nil || subresources == nil {
		return err
	}
	if subresources.Status != nil {
		r.Status = &apiextensions.CustomResourceSubresourceStatus{}
		if props != nil {
			if status, ok := props.Properties["status"]; ok {
				if r.StatusValidator, _, err = validation.NewSchemaValidator(&status); err != nil {
					return err
				}
			}
		}
	}
	if subresources.Scale != nil {
		r.Scale = &apiextensions.CustomResourceSubresourceScale{}
		return scheme.Convert(subresources.Scale, r.Scale, nil)
	}
	return nil
}
