package fakeclient

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// react leaves kinds without a CRD to later reactors.
func (s *server) react(action clienttesting.Action) (handled bool, ret runtime.Object, err error) {
	c := s.call(false, action.GetVerb(), action.GetResource(), action.GetNamespace(), "")
	if c == nil {
		return false, nil, nil
	}
	c.subresource = action.GetSubresource()
	var do request
	switch a := action.(type) {
	case clienttesting.GetActionImpl:
		c.name, do = a.Name, (*call).get
	case clienttesting.ListActionImpl:
		list, err := serve(c, func(c *call) (*unstructured.UnstructuredList, error) { return c.list(a.ListOptions) })
		if err != nil {
			return true, nil, err
		}
		return true, list, nil
	case clienttesting.CreateActionImpl:
		c.name, _ = meta.NewAccessor().Name(a.Object)
		do = creating(a.Object, a.CreateOptions)
	case clienttesting.UpdateActionImpl:
		c.name, _ = meta.NewAccessor().Name(a.Object)
		do = replacing(a.Object, a.UpdateOptions)
	case clienttesting.PatchActionImpl:
		c.name, do = a.Name, patching(nil, client.RawPatch(a.PatchType, a.Patch), a.PatchOptions)
	case clienttesting.DeleteActionImpl:
		c.name, do = a.Name, deleting(a.DeleteOptions)
	case clienttesting.DeleteCollectionActionImpl:
		c.verb, do = "deletecollection", deletingAll(a.ListOptions, a.DeleteOptions)
	default:
		return false, nil, nil
	}
	obj, err := serve(c, do)
	if err != nil || obj == nil {
		return true, nil, err
	}
	return true, &unstructured.Unstructured{Object: obj}, nil
}

func (s *server) reactWatch(action clienttesting.Action) (handled bool, ret watch.Interface, err error) {
	c := s.call(false, action.GetVerb(), action.GetResource(), action.GetNamespace(), "")
	if c == nil {
		return false, nil, nil
	}
	var o metav1.ListOptions
	if a, ok := action.(clienttesting.WatchActionImpl); ok {
		by := a.WatchRestrictions
		o.ResourceVersion, o.LabelSelector, o.FieldSelector = by.ResourceVersion, by.Labels.String(), by.Fields.String()
	}
	ret, err = serve(c, func(c *call) (watch.Interface, error) { return c.watch(o) })
	return true, ret, err
}
