package policyrequest

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// A Mergeable is a version of a kind as mutating policies need it. It is immutable.
type Mergeable struct {
	// Schema is never nil.
	Schema   *policy.MergeSchema
	defaults func(object map[string]any) // may be nil
}

// NewMergeable returns a version with a schema, which may be nil.
func NewMergeable(props *apiextensionsv1.JSONSchemaProps) *Mergeable {
	_, s, err := structural.Of(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props})
	if err != nil {
		s = nil
	}
	m := &Mergeable{Schema: policy.NewMergeSchema(s)}
	if s != nil {
		m.defaults = func(object map[string]any) { structural.Default(object, s) }
	}
	return m
}

// MergeableOf returns a version of a CRD. A version that does not exist has no schema.
func MergeableOf(crd *apiextensionsv1.CustomResourceDefinition, version string) *Mergeable {
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			return NewMergeable(v.Schema.OpenAPIV3Schema)
		}
	}
	return NewMergeable(nil)
}

// SetDefaults sets the defaults of an object, which it modifies.
func (m *Mergeable) SetDefaults(object map[string]any) {
	if m.defaults != nil {
		m.defaults(object)
	}
}

// Set adds the schema and the defaults to a request for Mutate.
func (m *Mergeable) Set(req *policy.Request) { req.Schema, req.Default = m.Schema, m.SetDefaults }
