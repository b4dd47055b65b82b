package fakeclient

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// delete handles a DELETE request. An object with finalizers is kept and gets a deletion timestamp.
// That is an update in the version of the URL, and like any update it is stored only if it changes
// the stored object.
func (s *server) delete(c *call, options *metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := invalidOptions("DeleteOptions", validation.ValidateDeleteOptions(options)); err != nil {
		return err
	}
	obj, err := s.live(c)
	switch {
	case err != nil:
		return internal(err)
	case obj == nil:
		return c.notFound()
	}
	u := &unstructured.Unstructured{Object: obj}
	if err := c.sameAs(u, options.Preconditions); err != nil {
		return err
	}
	finalizers := collected(u.GetFinalizers(), options)
	u.SetFinalizers(finalizers)
	switch {
	case len(finalizers) == 0 && c.dryRun:
		return nil
	case len(finalizers) == 0:
		s.remove(c)
		return nil
	}
	if u.GetDeletionTimestamp() == nil {
		u.SetGeneration(u.GetGeneration() + 1)
		u.SetDeletionTimestamp(new(metav1.Now()))
		u.SetDeletionGracePeriodSeconds(new(int64(0)))
	}
	e, err := s.engine(c.kind)
	if err != nil {
		return internal(err)
	}
	stored, err := e.Convert(context.Background(), obj, "")
	switch {
	case err != nil:
		return internal(err)
	case c.dryRun || same(stored, c.kind.store.get(c.namespace, c.name)):
		return nil
	}
	(&unstructured.Unstructured{Object: stored}).SetResourceVersion(s.next())
	c.kind.store.put(stored, s.version)
	return nil
}

func (c *call) sameAs(u *unstructured.Unstructured, p *metav1.Preconditions) error {
	conflict := func(field, wanted, is, may string) error {
		return apierrors.NewConflict(schema.GroupResource{Group: c.kind.group.Group, Resource: c.kind.group.Kind}, c.name,
			fmt.Errorf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s", field, wanted, field, is, may))
	}
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != u.GetUID():
		return conflict("UID", string(*p.UID), string(u.GetUID()), "deleted and then recreated")
	case p.ResourceVersion != nil && *p.ResourceVersion != u.GetResourceVersion():
		return conflict("ResourceVersion", *p.ResourceVersion, u.GetResourceVersion(), "modified")
	}
	return nil
}

// collected returns the object's finalizers with the garbage collection finalizer that the deletion
// options require. Without such options, it returns finalizers unchanged.
func collected(finalizers []string, options *metav1.DeleteOptions) (all []string) {
	wanted := ""
	switch policy := options.PropagationPolicy; {
	//lint:ignore SA1019 clients still send it
	case options.OrphanDependents != nil:
		//lint:ignore SA1019 the same
		if *options.OrphanDependents {
			wanted = metav1.FinalizerOrphanDependents
		}
	case policy == nil:
		return finalizers
	case *policy == metav1.DeletePropagationOrphan:
		wanted = metav1.FinalizerOrphanDependents
	case *policy == metav1.DeletePropagationForeground:
		wanted = metav1.FinalizerDeleteDependents
	}
	for _, f := range finalizers {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			all = append(all, f)
		}
	}
	if wanted != "" {
		all = append(all, wanted)
	}
	if slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(finalizers))) {
		return finalizers
	}
	return all
}
