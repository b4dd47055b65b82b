package policyrequest

import (
	"context"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/engine"
)

// ScaleName is the name of the subresource whose requests have objects of kind Scale.
const ScaleName = "scale"

// scaleKind is the kind of the objects in requests to scale.
var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// target returns the subject of a request for an object of to. It differs from to for requests to scale.
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

// scale returns the Scale of an object, as policies see it. A Scale and nil stay as they are.
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

// mutateScale is MutateCustom for a request to scale.
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
