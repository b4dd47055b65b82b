package fakeclient

import (
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/celadon-cel/celadon/x/crdfields"
)

// watch returns a watch of a kind. With options, it begins with the changes after their resourceVersion,
// or with the existing objects if there is none, as in a server. Without options, it begins with the next
// change, as in client-go's tracker.
func (s *server) watch(k *kind, version, namespace string, options ...metav1.ListOptions) (watch.Interface, error) {
	c, err := s.newCollection(k, version, namespace, "watch")
	if err != nil {
		return nil, err
	}
	o := metav1.ListOptions{}
	if len(options) > 0 {
		o = options[0]
	}
	since, err := sinceOf(o)
	if err != nil {
		return nil, err
	}
	by, byField, err := selectors(o)
	if err != nil {
		return nil, err
	}
	view := &watchView{server: s, call: c}
	if view.selected, err = k.selected(version, by, byField); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(options) > 0 && since != 0 {
		return view.watcher(nil, k.store.after(since)), nil
	}
	var existing []change
	if len(options) > 0 {
		for _, item := range k.store.list(c.namespace) {
			existing = append(existing, change{kind: watch.Added, obj: item.Object})
		}
	}
	return view.watcher(existing, k.store.after(s.version)), nil
}

// sinceOf returns the resourceVersion that a watch begins after, or 0.
func sinceOf(o metav1.ListOptions) (uint64, error) {
	if o.ResourceVersion == "" {
		return 0, nil
	}
	since, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	return since, nil
}

// A watchView determines the events of a watch. An object is added when it begins to match the selectors,
// and deleted when it no longer matches them.
type watchView struct {
	server   *server
	call     *call
	selected func(*unstructured.Unstructured) (bool, error)
}

// watcher sends existing, and then the changes of the kind from an index on. Unlike client-go's, it holds
// any number of events that are not received.
func (v *watchView) watcher(existing []change, from int) watch.Interface {
	result := make(chan watch.Event)
	w := watch.NewProxyWatcher(result)
	go func() {
		defer close(result)
		for i := 0; ; i++ {
			var c change
			ok := i < len(existing)
			if ok {
				c = existing[i]
			} else if c, ok = v.call.kind.store.wait(from+i-len(existing), w.StopChan()); !ok {
				return
			}
			e, wanted, err := v.event(c)
			switch {
			case err != nil:
				status := &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
				e = watch.Event{Type: watch.Error, Object: status}
			case !wanted:
				continue
			}
			select {
			case result <- e:
			case <-w.StopChan():
				return
			}
		}
	}()
	return w
}

// event returns the event of a change, or false if there is none.
func (v *watchView) event(c change) (e watch.Event, wanted bool, err error) {
	if in := v.call.namespace; in != "" && in != (&unstructured.Unstructured{Object: c.obj}).GetNamespace() {
		return e, false, nil
	}
	u, matches, err := v.seen(c.obj)
	if err != nil {
		return e, false, err
	}
	e = watch.Event{Type: c.kind, Object: v.server.typed(u)}
	before := false
	if c.before != nil {
		if _, before, err = v.seen(c.before); err != nil {
			return e, false, err
		}
	}
	switch {
	case !matches:
		e.Type = watch.Deleted
	case !before && c.kind == watch.Modified:
		e.Type = watch.Added
	}
	return e, matches || before, nil
}

// seen returns a stored object in the version of the watch, and whether it matches the selectors.
func (v *watchView) seen(obj map[string]any) (u *unstructured.Unstructured, matches bool, err error) {
	u = &unstructured.Unstructured{}
	u.Object, err = v.server.read(v.call.kind, v.call.at.version, runtime.DeepCopyJSON(obj))
	if err == nil {
		matches, err = v.selected(u)
	}
	return u, matches, err
}

// selectors parses the selectors of a request.
func selectors(o metav1.ListOptions) (labels.Selector, fields.Selector, error) {
	by, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return by, byField, nil
}

// selected returns a function that reports whether selectors match an object in a version.
func (k *kind) selected(version string, by labels.Selector, byField fields.Selector) (
	func(*unstructured.Unstructured) (bool, error), error) {
	if by.Empty() && byField.Empty() {
		return func(*unstructured.Unstructured) (bool, error) { return true, nil }, nil
	}
	i := slices.IndexFunc(k.crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version
	})
	selectable, err := crdfields.SelectableOf(&k.crd.Spec.Versions[i], k.namespaced)
	if err != nil {
		return nil, internal(err)
	}
	if err := selectable.Check(byField); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(u *unstructured.Unstructured) (bool, error) {
		matches, err := selectable.Matches(byField, u.Object, u.GetNamespace(), u.GetName())
		return matches && by.Matches(labels.Set(u.GetLabels())), err
	}, nil
}
