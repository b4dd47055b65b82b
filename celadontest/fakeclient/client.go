package fakeclient

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// interceptors returns functions that handle kinds with a CRD, and pass all other calls on.
func (s *server) interceptors() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			o := (&client.CreateOptions{}).ApplyOptions(opts).AsCreateOptions()
			return s.ours(obj, "", "create", s.creating(o), func() error { return c.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			o := (&client.UpdateOptions{}).ApplyOptions(opts).AsUpdateOptions()
			return s.ours(obj, "", "update", s.replacing(o), func() error { return c.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			o := (&client.PatchOptions{}).ApplyOptions(opts).AsPatchOptions()
			return s.ours(obj, "", "patch", s.patching(obj, patch, o), func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			o := (&client.ApplyOptions{}).ApplyOptions(opts).AsPatchOptions()
			return s.applying(obj, obj, "", o, func() error { return c.Apply(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			o := (&client.DeleteOptions{}).ApplyOptions(opts).AsDeleteOptions()
			gvk, k, err := s.known(obj)
			switch {
			case err != nil:
				return err
			case k == nil:
				return c.Delete(ctx, obj, opts...)
			}
			w, err := s.newCall(k, endpoint{version: gvk.Version}, obj.GetNamespace(), obj.GetName(), "delete")
			if err != nil {
				return err
			}
			return s.delete(w.options(s, "", "", o.DryRun), o)
		},
		DeleteAllOf:       s.deleteAllOf,
		SubResourceUpdate: s.subResourceUpdate,
		SubResourcePatch:  s.subResourcePatch,
		SubResourceApply:  s.subResourceApply,
	}
}

func (s *server) deleteAllOf(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error {
	o := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
	gvk, k, err := s.known(obj)
	switch {
	case err != nil:
		return err
	case k == nil:
		return c.DeleteAllOf(ctx, obj, opts...)
	}
	by, byField := o.LabelSelector, o.FieldSelector
	if by == nil {
		by = labels.Everything()
	}
	if byField == nil {
		byField = fields.Everything()
	}
	return s.deleteAll(k, gvk.Version, o.Namespace, by, byField, o.AsDeleteOptions())
}

func (s *server) subResourceUpdate(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	o := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	body := obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.oursAs(obj, body, name, "update", s.replacing(o.AsUpdateOptions()),
		func() error { return c.SubResource(name).Update(ctx, obj, opts...) })
}

func (s *server) subResourcePatch(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	o := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	body := obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.oursAs(obj, body, name, "patch", s.patching(body, patch, o.AsPatchOptions()),
		func() error { return c.SubResource(name).Patch(ctx, obj, patch, opts...) })
}

func (s *server) subResourceApply(ctx context.Context, c client.Client, name string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	o := &client.SubResourceApplyOptions{}
	o.ApplyOpts(opts)
	body := obj
	if o.SubResourceBody != nil {
		body = o.SubResourceBody
	}
	return s.applying(obj, body, name, o.AsPatchOptions(), func() error { return c.SubResource(name).Apply(ctx, obj, opts...) })
}

// A write handles an object that a client sent, and returns the response.
type write func(w *call, obj map[string]any) (map[string]any, error)

// ours performs a write of a kind with a CRD and stores the response in obj. For other kinds, it
// calls others.
func (s *server) ours(obj client.Object, subresource, verb string, do write, others func() error) error {
	return s.oursAs(obj, obj, subresource, verb, do, others)
}

// oursAs is like ours, but sends body to the URL of obj.
func (s *server) oursAs(obj, body client.Object, subresource, verb string, do write, others func() error) error {
	gvk, k, err := s.known(obj)
	switch {
	case err != nil:
		return err
	case k == nil || subresource != "" && subresource != "status":
		return others()
	}
	w, err := s.newCall(k, endpoint{gvk.Version, subresource}, obj.GetNamespace(), obj.GetName(), verb)
	if err != nil {
		return err
	}
	if _, partial := body.(*metav1.PartialObjectMetadata); partial && verb != "patch" {
		return fmt.Errorf("cannot %s using only metadata", verb)
	}
	object, err := sent(body, gvk)
	if err != nil {
		return err
	}
	answer, err := do(w, object)
	if err != nil {
		return err
	}
	return receive(answer, body)
}

func (s *server) creating(o *metav1.CreateOptions) write {
	return func(w *call, obj map[string]any) (map[string]any, error) {
		if err := invalidOptions("CreateOptions", validation.ValidateCreateOptions(o)); err != nil {
			return nil, err
		}
		return s.create(w.options(s, o.FieldManager, o.FieldValidation, o.DryRun), obj)
	}
}

func (s *server) replacing(o *metav1.UpdateOptions) write {
	return func(w *call, obj map[string]any) (map[string]any, error) {
		if err := invalidOptions("UpdateOptions", validation.ValidateUpdateOptions(o)); err != nil {
			return nil, err
		}
		return s.replace(w.options(s, o.FieldManager, o.FieldValidation, o.DryRun), obj)
	}
}

func (s *server) patching(obj client.Object, patch client.Patch, o *metav1.PatchOptions) write {
	return func(w *call, _ map[string]any) (map[string]any, error) {
		data, err := patch.Data(obj)
		if err != nil {
			return nil, err
		}
		return s.patchWith(w, patch.Type(), data, o)
	}
}

func (s *server) patchWith(w *call, kind types.PatchType, data []byte, o *metav1.PatchOptions) (map[string]any, error) {
	if err := invalidOptions("PatchOptions", validation.ValidatePatchOptions(o, kind)); err != nil {
		return nil, err
	}
	return s.patch(w.options(s, o.FieldManager, o.FieldValidation, o.DryRun), kind, data, o.Force != nil && *o.Force)
}

// applying performs a server-side apply of an apply configuration.
func (s *server) applying(obj, body runtime.ApplyConfiguration, subresource string, o *metav1.PatchOptions, others func() error) error {
	url, err := configured(obj)
	if err != nil {
		return err
	}
	gvk := url.GroupVersionKind()
	k := s.kind(gvk.GroupKind())
	if k == nil || subresource != "" && subresource != "status" {
		return others()
	}
	sent, err := configured(body)
	if err != nil {
		return err
	}
	data, err := sent.MarshalJSON()
	if err != nil {
		return err
	}
	w, err := s.newCall(k, endpoint{gvk.Version, subresource}, url.GetNamespace(), url.GetName(), "patch")
	if err != nil {
		return err
	}
	answer, err := s.patchWith(w, types.ApplyYAMLPatchType, data, o)
	if err != nil {
		return err
	}
	return receiveConfiguration(answer, body)
}

// known returns the type of obj and its kind, which is nil without a CRD.
func (s *server) known(obj runtime.Object) (schema.GroupVersionKind, *kind, error) {
	gvk, err := s.gvkOf(obj)
	if err != nil {
		return gvk, nil, err
	}
	return gvk, s.kind(gvk.GroupKind()), nil
}

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
