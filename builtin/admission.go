package builtin

import (
	"context"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Admission takes part in requests, as admission plugins do.
type Admission interface {
	// Mutate returns the object as admission changes it, or nil if it does not change it. Once it
	// has changed the object, it calls again, and can then change it once more. An error, also from
	// again, rejects the request.
	Mutate(ctx context.Context, r Review, again PluginsAgain) (map[string]any, error)
	// Validate returns an error to reject the request.
	Validate(ctx context.Context, r Review) error
}

// PluginsAgain runs the admission plugins again on a changed object, as the server does. It returns
// the object as they change it, or nil if they do not change it.
type PluginsAgain = func(changed map[string]any) (map[string]any, error)

// A Review is a request as admission sees it. Its objects are in the version of the request and have defaults.
type Review struct {
	Kind              schema.GroupVersionKind
	Resource          schema.GroupVersionResource
	Subresource       string
	Namespace, Name   string
	Operation         admission.Operation
	Object, OldObject map[string]any
	Options           runtime.Object
}

// admitter passes requests to the admission plugins and to Admission. It implements admission.MutationInterface and
// admission.ValidationInterface.
type admitter struct{ write *write }

func (*admitter) Handles(admission.Operation) bool { return true }

func (a *admitter) Admit(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	if attrs.GetOldObject() != nil && attrs.GetObject() != nil {
		a.setVersion(attrs.GetObject())
	}
	if err := a.mutateByPlugins(ctx, attrs, o); err != nil {
		return err
	}
	if a.write.Admission != nil {
		if err := a.mutate(ctx, attrs, o); err != nil {
			return err
		}
	}
	if attrs.GetOperation() == admission.Create && a.write.kind.Kind != "IPAddress" { // whose names have no random part
		setName(attrs.GetObject())
	}
	return nil
}

// setName gives an object with metadata.generateName a name that ends in a fixed suffix. The server appends five
// random characters after mutation.
func setName(object runtime.Object) {
	const suffix, longest = "00000", 63 - len("00000")
	to, err := meta.Accessor(object)
	if err != nil || to.GetName() != "" || to.GetGenerateName() == "" {
		return
	}
	prefix := to.GetGenerateName()
	to.SetName(prefix[:min(len(prefix), longest)] + suffix)
}

// SetDefaults sets the defaults of an object of a built-in kind, as the API server does when it
// decodes an object. It modifies the object, unless the kind is unknown or the object does not fit it.
func SetDefaults(kind schema.GroupVersionKind, object map[string]any) {
	typed, err := legacyscheme.Scheme.New(kind)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed) != nil {
		return
	}
	legacyscheme.Scheme.Default(typed)
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return
	}
	clear(object)
	maps.Copy(object, out)
}

func decodeBy(decoder runtime.Decoder, object map[string]any) (runtime.Object, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(decoder, data)
}

// Convert returns an object of a built-in kind in another version, with the defaults of its given
// version.
func Convert(object map[string]any, to schema.GroupVersionKind) (map[string]any, error) {
	decoded, err := decodeBy(legacyscheme.Codecs.UniversalDecoder(), object)
	if err != nil {
		return nil, err
	}
	return versioned(decoded, to, legacyscheme.Scheme)
}

func (a *admitter) mutate(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	review, err := newReview(attrs, o)
	if err != nil {
		return err
	}
	object, err := a.write.Admission.Mutate(ctx, review, func(changed map[string]any) (map[string]any, error) {
		if err := replaceObject(attrs, o, changed); err != nil {
			return nil, err
		}
		before := attrs.GetObject().DeepCopyObject()
		if err := a.mutateByPlugins(ctx, attrs, o); err != nil || equality.Semantic.DeepEqual(before, attrs.GetObject()) {
			return nil, err
		}
		again, err := newReview(attrs, o)
		return again.Object, err
	})
	if err != nil || object == nil {
		return err
	}
	return replaceObject(attrs, o, object)
}

// replaceObject takes an object in the version of the request.
func replaceObject(attrs admission.Attributes, o admission.ObjectInterfaces, object map[string]any) error {
	versioned, err := o.GetObjectCreater().New(attrs.GetKind())
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, versioned, true); err != nil {
		return err
	}
	o.GetObjectDefaulter().Default(versioned)
	return o.GetObjectConvertor().Convert(versioned, attrs.GetObject(), nil)
}

func (a *admitter) Validate(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	if err := a.validateByPlugins(ctx, attrs, o); err != nil || a.write.Admission == nil {
		return err
	}
	review, err := newReview(attrs, o)
	if err != nil {
		return err
	}
	return a.write.Admission.Validate(ctx, review)
}

// setVersion gives an object the resource version of the old object, as if the client had read that version.
func (a *admitter) setVersion(object runtime.Object) {
	if to, err := meta.Accessor(object); err == nil { // options have no metadata
		to.SetResourceVersion(a.write.storedVersion())
	}
}

func newReview(attrs admission.Attributes, o admission.ObjectInterfaces) (r Review, err error) {
	r = Review{
		Kind: attrs.GetKind(), Resource: attrs.GetResource(), Subresource: attrs.GetSubresource(),
		Namespace: attrs.GetNamespace(), Name: attrs.GetName(), Operation: attrs.GetOperation(),
		Options: attrs.GetOperationOptions(),
	}
	if r.Object, err = versioned(attrs.GetObject(), r.Kind, o.GetObjectConvertor()); err != nil {
		return r, err
	}
	r.OldObject, err = versioned(attrs.GetOldObject(), r.Kind, o.GetObjectConvertor())
	return r, err
}

func versioned(
	object runtime.Object, kind schema.GroupVersionKind, convertor runtime.ObjectConvertor,
) (map[string]any, error) {
	if object == nil {
		return nil, nil
	}
	out, err := convertor.ConvertToVersion(object, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	return runtime.DefaultUnstructuredConverter.ToUnstructured(out)
}
