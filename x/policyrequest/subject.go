package policyrequest

import (
	"context"
	"slices"
	"strings"
	"sync"

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

	mergeable func(kind schema.GroupVersionKind) *Mergeable
	// scale returns the Scale of an object. It is nil if the objects of requests to scale are Scales.
	scale func(object map[string]any) map[string]any
}

// prepareMutation adds to a request what mutations need.
func (s *Subject) prepareMutation(req *policy.Request) {
	s.mergeable(s.Kind).Set(req)
	req.Equivalents = slices.Clone(req.Equivalents)
	for i := range req.Equivalents {
		e := &req.Equivalents[i]
		m := s.mergeable(e.Kind)
		e.Schema, e.Default = m.Schema, m.SetDefaults
	}
}

// Custom is a CRD with what policies need of it. It is safe for concurrent use.
type Custom struct {
	crd        *apiextensionsv1.CustomResourceDefinition
	engine     *engine.Engine
	mergeables sync.Map // by version
}

// NewCustom returns a Custom for a CRD and the engine that was compiled from it.
func NewCustom(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) *Custom {
	return &Custom{crd: crd, engine: e}
}

// Namespaced reports whether the objects are namespaced.
func (c *Custom) Namespaced() bool { return c.engine.Info().Namespaced }

// Subject returns the subject of an object in an apiVersion. objects are the forms of the object whose passwords must not
// be shown. The subject can be used as long as ctx.
func (c *Custom) Subject(ctx context.Context, apiVersion string, objects ...map[string]any) Subject {
	names := c.crd.Spec.Names
	group, version, _ := strings.Cut(apiVersion, "/")
	in := func(version string) (schema.GroupVersionResource, schema.GroupVersionKind) {
		v := schema.GroupVersion{Group: group, Version: version}
		return v.WithResource(names.Plural), v.WithKind(names.Kind)
	}
	convert := func(version string) func(map[string]any) (map[string]any, error) {
		if conversion := c.crd.Spec.Conversion; conversion == nil || conversion.Webhook == nil {
			return nil
		}
		return func(object map[string]any) (map[string]any, error) { return c.engine.Convert(ctx, object, version) }
	}
	s := Subject{mergeable: c.mergeable, scale: func(object map[string]any) map[string]any { return c.scale(version, object) }}
	s.Resource, s.Kind = in(version)
	for _, other := range c.engine.Info().Served {
		if other == version {
			continue
		}
		equivalent := policy.Equivalent{Convert: convert(other), Revert: convert(version)}
		equivalent.Resource, equivalent.Kind = in(other)
		s.Equivalents = append(s.Equivalents, equivalent)
	}
	for _, obj := range objects {
		s.Secrets = append(s.Secrets, secret.Of(c.crd, obj).Texts...)
	}
	return s
}

// mergeable returns a version as mutating policies need it.
func (c *Custom) mergeable(kind schema.GroupVersionKind) *Mergeable {
	m, ok := c.mergeables.Load(kind.Version)
	if !ok {
		m, _ = c.mergeables.LoadOrStore(kind.Version, MergeableOf(c.crd, kind.Version))
	}
	return m.(*Mergeable)
}
