package fakeclient

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The deletion timestamp of an object with finalizers is an update in the version of the URL, and like any
// update it is stored only if it changes the stored object.
func (c *call) delete(options *metav1.DeleteOptions) error {
	obj, err := c.get()
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: obj}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != u.GetUID() {
		return c.changed("UID", string(*p.UID), string(u.GetUID()), "deleted and then recreated")
	} else if p != nil && p.ResourceVersion != nil && *p.ResourceVersion != u.GetResourceVersion() {
		return c.changed("ResourceVersion", *p.ResourceVersion, u.GetResourceVersion(), "modified")
	}
	finalizers := collected(u.GetFinalizers(), options)
	u.SetFinalizers(finalizers)
	switch {
	case len(finalizers) == 0 && c.dryRun:
		return nil
	case len(finalizers) == 0:
		c.persist(nil)
		return nil
	}
	if u.GetDeletionTimestamp() == nil {
		u.SetGeneration(u.GetGeneration() + 1)
		u.SetDeletionTimestamp(new(metav1.Now()))
		u.SetDeletionGracePeriodSeconds(new(int64(0)))
	}
	stored, err := c.engine.Convert(context.Background(), obj, "")
	if err == nil && !c.dryRun && !same(stored, c.stored()) {
		c.persist(stored)
	}
	return internal(err)
}

func (c *call) changed(field, wanted, is, may string) error {
	resource := schema.GroupResource{Group: c.kind.group.Group, Resource: c.kind.group.Kind}
	return apierrors.NewConflict(resource, c.name, fmt.Errorf(
		"the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s", field, wanted, field, is, may))
}

// collected returns an object's finalizers with exactly the garbage collection finalizer that the deletion options
// require. If they set no policy, it returns finalizers unchanged.
func collected(finalizers []string, options *metav1.DeleteOptions) []string {
	all := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy := options.PropagationPolicy; {
	//lint:ignore SA1019 clients still send it
	case options.OrphanDependents != nil:
		//lint:ignore SA1019 the same
		if *options.OrphanDependents {
			all = append(all, metav1.FinalizerOrphanDependents)
		}
	case policy == nil:
		return finalizers
	case *policy == metav1.DeletePropagationOrphan:
		all = append(all, metav1.FinalizerOrphanDependents)
	case *policy == metav1.DeletePropagationForeground:
		all = append(all, metav1.FinalizerDeleteDependents)
	}
	if slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(finalizers))) {
		return finalizers
	}
	return all
}
