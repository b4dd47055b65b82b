package celadontest

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Write is a kind of write, of any object.
type Write struct {
	crds        *CRDs
	old         any
	update      bool
	subresource string
}

// Update is the update of an object; old may be what today's CRD refuses.
func (c *CRDs) Update(old any) Write { return Write{crds: c, old: old, update: true} }

// Status is the update of an object's status subresource.
func (c *CRDs) Status(old any) Write {
	return Write{crds: c, old: old, update: true, subresource: "status"}
}

func (c *CRDs) create() Write { return Write{crds: c} }

// Accepts is Write.Accepts of a create.
func (c *CRDs) Accepts(t testing.TB, obj any) *unstructured.Unstructured {
	t.Helper()
	return c.create().Accepts(t, obj)
}

// Rejects is Write.Rejects of a create.
func (c *CRDs) Rejects(t testing.TB, obj any, causes ...Cause) *apierrors.StatusError {
	t.Helper()
	return c.create().Rejects(t, obj, causes...)
}

// Err is Write.Err of a create.
func (c *CRDs) Err(t testing.TB, obj any) error {
	t.Helper()
	return c.create().Err(t, obj)
}

// Accepts fails the test unless the object is accepted. It gives the object as it
// would be persisted, pruned and defaulted; an empty one where the test failed.
func (w Write) Accepts(t testing.TB, obj any) *unstructured.Unstructured {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
	case !v.result.Allowed:
		t.Errorf("celadontest: %s was refused: want it accepted%s", v, v.why())
	default:
		return &unstructured.Unstructured{Object: v.result.Object}
	}
	return &unstructured.Unstructured{}
}

// Rejects fails the test unless the object is refused for the causes given: each
// matches one at least, and there is no other. That rules were not checked because
// of other causes is none of them. Without causes given, any will do. It gives what
// a client would; an empty one where nothing was refused.
func (w Write) Rejects(t testing.TB, obj any, causes ...Cause) *apierrors.StatusError {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
		return &apierrors.StatusError{}
	case v.result.Allowed:
		t.Errorf("celadontest: %s was accepted: want it refused%s", v, wanted(causes))
		return &apierrors.StatusError{}
	}
	if wrong := mismatch(causes, v.result); wrong != "" {
		t.Errorf("celadontest: %s was refused%s%s", v, wrong, v.why())
	}
	return statusError(v.result.Failure)
}

// Err is nil for an object that is accepted, and the client's *apierrors.StatusError
// for one that is refused. Whatever else there is fails the test, and is returned.
func (w Write) Err(t testing.TB, obj any) error {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
		return v.err
	case v.result.Allowed:
		return nil
	}
	return statusError(v.result.Failure)
}

// statusError is a copy of what an engine answers: what is the test's, it may change.
func statusError(status *metav1.Status) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: *status.DeepCopy()}
}

// verdict is what came of a write.
type verdict struct {
	write  Write
	object map[string]any
	engine *engine.Engine
	result *engine.Result
	err    error // there is no verdict
}

func (w Write) decide(obj any) (v verdict) {
	v.write = w
	if v.object, v.err = w.crds.object(obj); v.err != nil {
		return v
	}
	req := engine.Request{Object: v.object, Subresource: w.subresource, FieldValidation: w.crds.config.FieldValidation}
	if req.FieldValidation == "" {
		req.FieldValidation = metav1.FieldValidationStrict
	}
	if w.update {
		if req.OldObject, v.err = w.crds.object(w.old); v.err != nil {
			v.err = fmt.Errorf("old object: %w", v.err)
			return v
		}
	}
	if _, v.engine, v.err = w.crds.engineOf(v.object); v.err != nil {
		return v
	}
	if v.result, v.err = w.crds.Decide(context.Background(), req); v.err == nil && v.result.Undecided != nil {
		v.err = v.result.Undecided // there may be other causes
	}
	if v.err != nil {
		v.err = fmt.Errorf("%s: %w", v, v.err)
	}
	return v
}

// String names the write's object.
func (v verdict) String() string {
	operation := "create"
	switch {
	case v.write.subresource != "":
		operation = v.write.subresource + " update"
	case v.write.update:
		operation = "update"
	}
	u := &unstructured.Unstructured{Object: v.object}
	return string(untrusted.Sprintf("the %s of %s %q", operation, u.GetKind(), u.GetName()))
}
