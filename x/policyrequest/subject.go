package policyrequest

import (
	"context"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/secret"
)

// A Subject is the resource of an object that policies see.
type Subject struct {
	Resource    schema.GroupVersionResource
	Kind        schema.GroupVersionKind
	Equivalents []policy.Equivalent
	// Secrets are the passwords of the object and its old version.
	Secrets secret.Texts
}

// SubjectOf returns the subject of an object of a CRD. e is compiled from crd. objects are the forms
// of the object whose passwords must not be shown. The subject can be used as long as ctx.
func SubjectOf(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, apiVersion string, objects ...map[string]any) Subject {
	names := crd.Spec.Names
	group, version, _ := strings.Cut(apiVersion, "/")
	in := func(version string) (schema.GroupVersionResource, schema.GroupVersionKind) {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: names.Plural}, schema.GroupVersionKind{Group: group, Version: version, Kind: names.Kind}
	}
	var s Subject
	s.Resource, s.Kind = in(version)
	for _, other := range e.Info().Served {
		if other == version {
			continue
		}
		equivalent := policy.Equivalent{}
		equivalent.Resource, equivalent.Kind = in(other)
		if conversion := crd.Spec.Conversion; conversion != nil && conversion.Webhook != nil {
			equivalent.Convert = func(object map[string]any) (map[string]any, error) { return e.Convert(ctx, object, other) }
		}
		s.Equivalents = append(s.Equivalents, equivalent)
	}
	for _, obj := range objects {
		s.Secrets = append(s.Secrets, secret.Of(crd, obj).Texts...)
	}
	return s
}

// Request returns a request of a user. Its objects and names are not set.
func (s *Subject) Request(operation policy.Operation, user policy.User) policy.Request {
	return policy.Request{Operation: operation, Resource: s.Resource, Kind: s.Kind, Equivalents: s.Equivalents, User: user}
}
