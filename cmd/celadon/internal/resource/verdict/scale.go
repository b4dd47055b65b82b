package verdict

import (
	"context"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

const scaleName = "scale"

// scaleKind is the kind of the objects in requests to scale.
var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scales returns the subject of requests to scale a resource.
func scales(to policyrequest.Subject) policyrequest.Subject {
	to.Kind = scaleKind
	for i := range to.Equivalents {
		e := &to.Equivalents[i]
		e.Kind, e.Convert, e.Revert = scaleKind, nil, nil
	}
	return to
}

// scaleOf returns the Scale of a custom resource, as policies see it.
func (d *decision) scaleOf(object map[string]any) map[string]any {
	meta := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if v, ok := input.Metadata(object)[field]; ok {
			meta[field] = v
		}
	}
	out := map[string]any{
		"apiVersion": scaleKind.GroupVersion().String(), "kind": scaleKind.Kind, "metadata": meta,
		"spec": map[string]any{}, "status": map[string]any{"replicas": int64(0)},
	}
	for _, v := range d.def.CRD.Spec.Versions {
		if v.Name != d.report.Version() || v.Subresources == nil || v.Subresources.Scale == nil {
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

// mutateScale is mutate for a request to scale a custom resource.
func (d *decision) mutateScale(ctx context.Context, req engine.Request) (engine.Request, outcome) {
	old, err := d.def.engine.Convert(ctx, req.OldObject, d.report.Version())
	if err != nil {
		return req, outcome{} // it is rejected before mutation
	}
	before, scale := d.scaleOf(old), d.scaleOf(old)
	scale["spec"] = d.scaleOf(d.doc.Object)["spec"]
	object, changed, out := d.mutated(ctx, subject{scales(d.subject(ctx)), d.builtins.Mergeable(scaleKind)}, scale, before)
	if changed {
		req.Object, req.Raw = object, nil
	}
	return req, out
}
