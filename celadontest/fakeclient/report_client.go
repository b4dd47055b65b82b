package fakeclient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// interceptors returns functions that report writes to controller-runtime's fake client.
func (r *reporter) interceptors() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			r.clientSeeds(ctx, c)
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			r.clientSeeds(ctx, c)
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			r.clientSeeds(ctx, c)
			return r.object(ctx, c, obj, obj, "create", "", func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			r.clientSeeds(ctx, c)
			return r.object(ctx, c, obj, obj, "update", "", func() error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			r.clientSeeds(ctx, c)
			return r.object(ctx, c, obj, obj, "patch", "", func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			r.clientSeeds(ctx, c)
			return r.configuration(ctx, c, obj, "", func() error { return c.Apply(ctx, obj, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			body := obj
			if o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts); o.SubResourceBody != nil {
				body = o.SubResourceBody
			}
			return r.object(ctx, c, obj, body, "update", name, func() error { return c.SubResource(name).Update(ctx, obj, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return r.object(ctx, c, obj, obj, "patch", name, func() error { return c.SubResource(name).Patch(ctx, obj, patch, opts...) })
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			return r.configuration(ctx, c, obj, name, func() error { return c.SubResource(name).Apply(ctx, obj, opts...) })
		},
	}
}

// object reports a write of obj that sends body.
func (r *reporter) object(ctx context.Context, c client.Client, obj, body client.Object, verb, subresource string, do func() error) error {
	gvk, k, err := r.known(obj)
	if err != nil || k == nil || subresource != "" && subresource != "status" {
		return do()
	}
	o := observed{verb: verb, kind: k, at: endpoint{gvk.Version, subresource}, value: obj}
	o.key.namespace, o.key.name = obj.GetNamespace(), obj.GetName()
	if _, partial := body.(*metav1.PartialObjectMetadata); verb != "patch" && !partial {
		if o.sent, err = sent(body, gvk); err != nil {
			return do()
		}
	}
	return r.observe(ctx, o, func() map[string]any { return r.storedBy(ctx, c, gvk, o.key.namespace, o.key.name) },
		func() (string, error) { err := do(); return obj.GetName(), err })
}

func (r *reporter) configuration(ctx context.Context, c client.Client, obj runtime.ApplyConfiguration, subresource string, do func() error) error {
	u, err := configured(obj)
	if err != nil {
		return do()
	}
	gvk := u.GroupVersionKind()
	k := r.kind(gvk.GroupKind())
	if k == nil || subresource != "" && subresource != "status" {
		return do()
	}
	o := observed{verb: "apply", kind: k, at: endpoint{gvk.Version, subresource}, value: obj}
	o.key.namespace, o.key.name = u.GetNamespace(), u.GetName()
	return r.observe(ctx, o, func() map[string]any { return r.storedBy(ctx, c, gvk, o.key.namespace, o.key.name) },
		func() (string, error) { return o.key.name, do() })
}

// storedBy returns the object that a client's tracker has, or nil.
func (r *reporter) storedBy(ctx context.Context, c client.Client, gvk schema.GroupVersionKind, namespace, name string) map[string]any {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	if name == "" || c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u) != nil {
		return nil
	}
	obj, err := sent(u, gvk)
	if err != nil {
		return nil
	}
	return obj
}

// clientSeeds checks the objects that the client was built with.
func (r *reporter) clientSeeds(ctx context.Context, c client.Client) {
	r.eachSeed(func(k *kind, version string) (runtime.Object, error) {
		gvk := k.group.WithVersion(version)
		gvk.Kind += "List"
		all, err := r.config.Scheme.New(gvk) // a list of another kind would become known to the scheme
		if err != nil {
			return nil, err
		}
		list, ok := all.(client.ObjectList)
		if !ok {
			return nil, runtime.NewNotRegisteredErrForKind("", gvk)
		}
		if u, ok := list.(*unstructured.UnstructuredList); ok {
			u.SetGroupVersionKind(gvk)
		}
		return list, c.List(ctx, list)
	})
}
