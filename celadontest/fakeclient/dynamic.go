package fakeclient

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// react is the reactor for client-go's dynamic fake client. It leaves kinds without a CRD to later
// reactors.
func (s *server) react(action clienttesting.Action) (handled bool, ret runtime.Object, err error) {
	k := s.kindOf(action.GetResource())
	if k == nil {
		return false, nil, nil
	}
	at := endpoint{action.GetResource().Version, action.GetSubresource()}
	if err := k.routes(action); err != nil {
		return true, nil, err
	}
	var answer map[string]any
	switch a := action.(type) {
	case clienttesting.GetActionImpl:
		ret, err = s.get(k, at, a.Namespace, a.Name)
		return true, ret, err
	case clienttesting.ListActionImpl:
		ret, err = s.list(k, at.version, a.Namespace, a.ListOptions.FieldSelector)
		return true, ret, err
	case clienttesting.DeleteCollectionActionImpl:
		return true, nil, s.deleteCollection(k, at.version, &a)
	case clienttesting.CreateActionImpl:
		answer, err = s.reactTo(k, at, a.Namespace, "create", a.Object, s.creating(&a.CreateOptions))
	case clienttesting.UpdateActionImpl:
		answer, err = s.reactTo(k, at, a.Namespace, "update", a.Object, s.replacing(&a.UpdateOptions))
	case clienttesting.PatchActionImpl:
		var c *call
		if c, err = s.newCall(k, at, a.Namespace, a.Name, "patch"); err == nil {
			answer, err = s.patchWith(c, a.PatchType, a.Patch, &a.PatchOptions)
		}
	case clienttesting.DeleteActionImpl:
		var c *call
		if c, err = s.newCall(k, at, a.Namespace, a.Name, "delete"); err == nil {
			err = s.delete(c.options(s, "", "", a.DeleteOptions.DryRun), &a.DeleteOptions)
		}
		return true, nil, err
	default:
		return false, nil, nil
	}
	if err != nil {
		return true, nil, err
	}
	return true, &unstructured.Unstructured{Object: answer}, nil
}

// routes returns the error of a server that does not serve the action's verb at its URL.
func (k *kind) routes(action clienttesting.Action) error {
	verb, namespace := action.GetVerb(), action.GetNamespace()
	wide := k.namespaced && (verb == "list" || verb == "watch")
	switch {
	case k.namespaced != (namespace != "") && !(wide && namespace == ""):
		return noPath(k, "", verb)
	case action.GetSubresource() == "status" && (verb == "create" || verb == "delete") && k.hasStatus(action.GetResource().Version):
		return apierrors.NewMethodNotSupported(k.resource, verb)
	}
	return nil
}

// reactTo performs a write that sends an object.
func (s *server) reactTo(k *kind, at endpoint, namespace, verb string, obj runtime.Object, do write) (map[string]any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, errors.New("fakeclient: want an *unstructured.Unstructured")
	}
	c, err := s.newCall(k, at, namespace, u.GetName(), verb)
	if err != nil {
		return nil, err
	}
	object, err := decoded(u)
	if err != nil {
		return nil, err
	}
	if err := c.sameVersion(u); err != nil {
		return nil, err
	}
	return do(c, object)
}

// sameVersion checks that the object that is sent has the version of the URL. Other errors in its kind and
// apiVersion are found later.
func (c *call) sameVersion(u *unstructured.Unstructured) error {
	is, want := u.GroupVersionKind(), c.kind.group.WithVersion(c.at.version)
	if is.Kind == "" || is.GroupVersion() == want.GroupVersion() {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", is.GroupVersion(), want.GroupVersion()))
}

func (s *server) deleteCollection(k *kind, version string, a *clienttesting.DeleteCollectionActionImpl) error {
	by, byField, err := selectors(a.ListOptions)
	if err != nil {
		return err
	}
	return s.deleteAll(k, version, a.Namespace, by, byField, &a.DeleteOptions)
}

// deleteAll deletes each object of a collection separately, like the server.
func (s *server) deleteAll(k *kind, version, namespace string, by labels.Selector, byField fields.Selector, o *metav1.DeleteOptions) error {
	all, err := s.newCollection(k, version, namespace, "deletecollection")
	if err != nil {
		return err
	}
	selected, err := k.selected(version, by, byField)
	if err != nil {
		return err
	}
	items := k.store.list(all.namespace)
	for i := range items {
		item := &items[i]
		seen, err := s.read(k, version, item.Object)
		if err != nil {
			return internal(err)
		}
		matches, err := selected(&unstructured.Unstructured{Object: seen})
		if err != nil {
			return internal(err)
		}
		if !matches {
			continue
		}
		c := &call{kind: k, at: all.at, namespace: item.GetNamespace(), name: item.GetName()}
		if err := s.delete(c.options(s, "", "", o.DryRun), o); err != nil && !apierrors.IsNotFound(err) { // deleted concurrently
			return err
		}
	}
	return nil
}

func (s *server) reactWatch(action clienttesting.Action) (handled bool, ret watch.Interface, err error) {
	k := s.kindOf(action.GetResource())
	if k == nil {
		return false, nil, nil
	}
	if err := k.routes(action); err != nil {
		return true, nil, err
	}
	var options metav1.ListOptions
	if a, ok := action.(clienttesting.WatchActionImpl); ok {
		by := a.WatchRestrictions
		options.ResourceVersion, options.LabelSelector, options.FieldSelector = by.ResourceVersion, by.Labels.String(), by.Fields.String()
	}
	ret, err = s.watch(k, action.GetResource().Version, action.GetNamespace(), options)
	return true, ret, err
}
