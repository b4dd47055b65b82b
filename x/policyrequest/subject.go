package policyrequest

import (
	"context"
	"slices"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/x/secret"
)

// A Subject describes the resource of an object for policies.
type Subject struct {
	Resource    schema.GroupVersionResource
	Kind        schema.GroupVersionKind
	Equivalents []policy.Equivalent
	// Secrets are the strings in the forms of the object that must not be shown.
	Secrets secret.Texts

	mergeable func(kind schema.GroupVersionKind) *Mergeable
	// scale returns the Scale of an object. It is nil if requests to scale have Scales as their
	// objects.
	scale func(object map[string]any) map[string]any
}

func (s *Subject) prepareMutation(req *policy.Request) {
	s.mergeable(s.Kind).Set(req)
	req.Equivalents = slices.Clone(req.Equivalents)
	for i := range req.Equivalents {
		e := &req.Equivalents[i]
		m := s.mergeable(e.Kind)
		e.Schema, e.Default = m.Schema, m.Default
	}
}

// Custom provides the subjects for the objects of a CRD. It is safe for concurrent use.
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

// Subject returns the subject of an object in an apiVersion. objects are the forms of the object
// whose passwords must not be shown. The subject is valid as long as ctx.
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

func (c *Custom) mergeable(kind schema.GroupVersionKind) *Mergeable {
	m, ok := c.mergeables.Load(kind.Version)
	if !ok {
		m, _ = c.mergeables.LoadOrStore(kind.Version, MergeableOf(c.crd, kind.Version))
	}
	return m.(*Mergeable)
}

// A Mergeable is a version of a kind for mutating policies. It is immutable.
type Mergeable struct {
	// Schema is never nil.
	Schema *policy.MergeSchema
	// Default is as in policy.Request. It can be nil.
	Default func(object map[string]any)
}

// NewMergeable returns the version with a schema, which may be nil. An invalid schema counts as
// nil.
func NewMergeable(props *apiextensionsv1.JSONSchemaProps) *Mergeable {
	_, s, err := structural.Of(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props})
	if err != nil {
		s = nil
	}
	m := &Mergeable{Schema: policy.NewMergeSchema(s)}
	if s != nil {
		m.Default = func(object map[string]any) { structural.Default(object, s) }
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

// Set adds the schema and the defaults to a request for Mutate.
func (m *Mergeable) Set(req *policy.Request) { req.Schema, req.Default = m.Schema, m.Default }

// ScaleName is the name of the subresource whose requests have objects of kind Scale.
const ScaleName = "scale"

// Updated lists the subresources that are updated by the whole object, or, for scale, by a part of
// it. Custom resources have only the first two.
var Updated = []string{"status", ScaleName, "ephemeralcontainers", "resize", "approval", "finalize"}

// Sent lists the subresources whose requests have an object of a kind of their own, such as PodExecOptions. Only
// policies validate it.
var Sent = []string{"attach", "binding", "eviction", "exec", "portforward", "proxy", "token"}

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// target returns to, or for requests to scale, a copy with the kind Scale.
func (r *Review) target(to *Subject) *Subject {
	if r.Subresource != ScaleName || to.Kind == scaleKind {
		return to
	}
	scales := *to
	scales.Kind, scales.Equivalents = scaleKind, slices.Clone(to.Equivalents)
	if scales.mergeable = (&Builtins{}).mergeable; r.Builtins != nil {
		scales.mergeable = r.Builtins.mergeable
	}
	for i := range scales.Equivalents {
		e := &scales.Equivalents[i]
		e.Kind, e.Convert, e.Revert = scaleKind, nil, nil
	}
	return &scales
}

// scale returns the Scale of an object, as policies see it. It returns a Scale or nil unchanged.
func (c *Custom) scale(version string, object map[string]any) map[string]any {
	if object == nil || object["kind"] == scaleKind.Kind && object["apiVersion"] == scaleKind.GroupVersion().String() {
		return object
	}
	given, _ := object["metadata"].(map[string]any)
	meta := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if v, ok := given[field]; ok {
			meta[field] = v
		}
	}
	out := map[string]any{
		"apiVersion": scaleKind.GroupVersion().String(), "kind": scaleKind.Kind, "metadata": meta,
		"spec": map[string]any{}, "status": map[string]any{"replicas": int64(0)},
	}
	for _, v := range c.crd.Spec.Versions {
		if v.Name != version || v.Subresources == nil || v.Subresources.Scale == nil {
			continue
		}
		s := v.Subresources.Scale
		set := func(to, field, path string) {
			value, ok, _ := unstructured.NestedFieldNoCopy(object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
			if part := out[to].(map[string]any); ok && path != "" && (to == "status" || value != int64(0)) {
				part[field] = value
			}
		}
		set("spec", "replicas", s.SpecReplicasPath)
		set("status", "replicas", s.StatusReplicasPath)
		if s.LabelSelectorPath != nil {
			set("status", "selector", *s.LabelSelectorPath)
		}
	}
	return out
}

func (r *Review) mutateScale(ctx context.Context, to *Subject, e *engine.Engine, req *engine.Request) (ok bool, err error) {
	object := req.Object
	if object == nil {
		if object, err = engine.Decode(req.Raw); err != nil {
			return true, nil // Validate rejects it for the same reason
		}
	}
	old, err := e.Convert(ctx, req.OldObject, to.Kind.Version)
	if err != nil {
		return true, nil // as above
	}
	before, scale := to.scale(old), to.scale(old)
	scale["spec"] = to.scale(object)["spec"]
	changed, ok, err := r.Mutate(ctx, to, scale, before)
	if changed != nil {
		req.Object, req.Raw = changed, nil
	}
	return ok, err
}
