package fakeclient

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func (s *server) interceptors() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			o := (&client.CreateOptions{}).ApplyOptions(opts).AsCreateOptions()
			return s.ours(obj, obj, "create", "", creating(obj, *o), func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			o := (&client.UpdateOptions{}).ApplyOptions(opts).AsUpdateOptions()
			return s.ours(obj, obj, "update", "", replacing(obj, *o), func() error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			o := (&client.PatchOptions{}).ApplyOptions(opts).AsPatchOptions()
			return s.ours(obj, obj, "patch", "", patching(obj, patch, *o), func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			o := (&client.ApplyOptions{}).ApplyOptions(opts).AsPatchOptions()
			return s.apply(obj, obj, "", o, func() error { return c.Apply(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			o := (&client.DeleteOptions{}).ApplyOptions(opts).AsDeleteOptions()
			return s.ours(obj, nil, "delete", "", deleting(*o), func() error { return c.Delete(ctx, obj, opts...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error {
			o := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
			url := obj.DeepCopyObject().(client.Object)
			url.SetNamespace(o.Namespace)
			url.SetName("")
			return s.ours(url, nil, "deletecollection", "", deletingAll(*o.AsListOptions(), *o.AsDeleteOptions()),
				func() error { return c.DeleteAllOf(ctx, obj, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
			body := cmp.Or(o.SubResourceBody, obj)
			return s.ours(obj, body, "update", name, replacing(body, *o.AsUpdateOptions()),
				func() error { return c.SubResource(name).Update(ctx, obj, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			o := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
			body := cmp.Or(o.SubResourceBody, obj)
			return s.ours(obj, body, "patch", name, patching(body, patch, *o.AsPatchOptions()),
				func() error { return c.SubResource(name).Patch(ctx, obj, patch, opts...) })
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			o := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
			body := cmp.Or(o.SubResourceBody, obj)
			return s.apply(obj, body, name, o.AsPatchOptions(), func() error { return c.SubResource(name).Apply(ctx, obj, opts...) })
		},
	}
}

// ours performs a request to the URL of obj and stores the response, if any, in into. For a kind
// without a CRD, or a subresource other than status, it calls others.
func (s *server) ours(obj client.Object, into any, verb, subresource string, do request, others func() error) error {
	gvk, err := apiutil.GVKForObject(obj, s.types)
	k := s.kinds[gvk.GroupKind()]
	switch {
	case runtime.IsNotRegisteredError(err):
		return fmt.Errorf("fakeclient: %w: set the scheme in Config, and do not call WithScheme", err)
	case err != nil:
		return err
	case k == nil || subresource != "" && subresource != "status":
		return others()
	}
	answer, err := serve(&call{
		server: s, kind: k, typed: true, verb: verb, version: gvk.Version, subresource: subresource,
		namespace: obj.GetNamespace(), name: obj.GetName(),
	}, do)
	if err != nil || answer == nil {
		return err
	}
	return receive(answer, into)
}

func (s *server) apply(obj, body runtime.ApplyConfiguration, subresource string, o *metav1.PatchOptions, others func() error) error {
	url := &unstructured.Unstructured{}
	data, err := json.Marshal(obj)
	if err == nil {
		err = url.UnmarshalJSON(data)
	}
	if err == nil {
		data, err = json.Marshal(body)
	}
	if err != nil {
		return fmt.Errorf("failed to marshal apply configuration: %w", err)
	}
	return s.ours(url, body, "patch", subresource, patching(nil, client.RawPatch(types.ApplyYAMLPatchType, data), *o), others)
}
