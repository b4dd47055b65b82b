package builtin

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Admission takes part in requests, as admission plugins do.
type Admission interface {
	// Mutate returns the object as admission changes it, or nil if it does not. An error rejects the request.
	Mutate(ctx context.Context, r Review) (map[string]any, error)
	// Validate returns an error to reject the request.
	Validate(ctx context.Context, r Review) error
}

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

// admitter passes requests to Admission. It implements admission.MutationInterface and admission.ValidationInterface.
type admitter struct{ write *write }

func (*admitter) Handles(admission.Operation) bool { return true }

func (a *admitter) Admit(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	if attrs.GetOldObject() != nil && attrs.GetObject() != nil {
		setVersion(attrs.GetObject())
	}
	if a.write.Admission != nil {
		if err := a.mutate(ctx, attrs, o); err != nil {
			return err
		}
	}
	if attrs.GetOperation() == admission.Create {
		setName(attrs.GetObject())
	}
	return nil
}

// setName gives an object with metadata.generateName a name, which does not depend on chance. The server appends five
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

// mutate lets Admission change the object.
func (a *admitter) mutate(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	review, err := newReview(attrs, o)
	if err != nil {
		return err
	}
	changed, err := a.write.Admission.Mutate(ctx, review)
	if err != nil || changed == nil {
		return err
	}
	versioned, err := o.GetObjectCreater().New(attrs.GetKind())
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(changed, versioned, true); err != nil {
		return err
	}
	o.GetObjectDefaulter().Default(versioned)
	return o.GetObjectConvertor().Convert(versioned, attrs.GetObject(), nil)
}

func (a *admitter) Validate(ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces) error {
	if a.write.Admission == nil {
		return nil
	}
	review, err := newReview(attrs, o)
	if err != nil {
		return err
	}
	return a.write.Admission.Validate(ctx, review)
}

// setVersion gives an object the resource version of the one that it replaces, as if the client had read that first.
func setVersion(object runtime.Object) {
	if to, err := meta.Accessor(object); err == nil { // options have no metadata
		to.SetResourceVersion(storedVersion)
	}
}

func newReview(attrs admission.Attributes, o admission.ObjectInterfaces) (r Review, err error) {
	r = Review{
		Kind: attrs.GetKind(), Resource: attrs.GetResource(), Subresource: attrs.GetSubresource(),
		Namespace: attrs.GetNamespace(), Name: attrs.GetName(), Operation: attrs.GetOperation(),
		Options: attrs.GetOperationOptions(),
	}
	if r.Object, err = versioned(attrs.GetObject(), r.Kind, o); err != nil {
		return r, err
	}
	r.OldObject, err = versioned(attrs.GetOldObject(), r.Kind, o)
	return r, err
}

// versioned returns an object in the version of kind. object may be nil.
func versioned(
	object runtime.Object, kind schema.GroupVersionKind, o admission.ObjectInterfaces,
) (map[string]any, error) {
	if object == nil {
		return nil, nil
	}
	out, err := o.GetObjectConvertor().ConvertToVersion(object, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	return runtime.DefaultUnstructuredConverter.ToUnstructured(out)
}
