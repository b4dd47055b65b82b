package fakeclient

import (
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
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
	view := &watchView{server: s, call: c, matching: map[types.NamespacedName]bool{}}
	if view.selected, err = k.selector(version, o); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.store.log(k)
	from, existing := log.len(), []change(nil)
	switch {
	case len(options) > 0 && since == 0:
		items, err := s.store.list(k, c.namespace)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			existing = append(existing, change{kind: watch.Added, obj: item.Object})
		}
	case len(options) > 0:
		from = log.after(since)
		for i := 0; i < from && view.selected != nil; i++ { // which objects matched before
			if past, ok := log.wait(i, nil); ok {
				view.event(past)
			}
		}
	}
	return newWatcher(existing, log, from, view.event), nil
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
	selected func(*unstructured.Unstructured) (bool, error) // nil without selectors
	matching map[types.NamespacedName]bool
}

// event returns the event of a change, or false if there is none.
func (v *watchView) event(c change) (watch.Event, bool) {
	u := (&unstructured.Unstructured{Object: c.obj}).DeepCopy()
	key := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	if v.call.namespace != "" && key.Namespace != v.call.namespace {
		return watch.Event{}, false
	}
	var err error
	if u.Object, err = v.server.read(v.call.kind, v.call.at.version, u.Object); err != nil {
		return failed(err), true
	}
	e := watch.Event{Type: c.kind, Object: v.server.typed(u)}
	if v.selected == nil {
		return e, true
	}
	matches, err := v.selected(u)
	if err != nil {
		return failed(err), true
	}
	before := v.matching[key]
	delete(v.matching, key)
	if matches && c.kind != watch.Deleted {
		v.matching[key] = true
	}
	switch {
	case !matches && !before:
		return watch.Event{}, false
	case !matches:
		e.Type = watch.Deleted
	case !before && c.kind == watch.Modified:
		e.Type = watch.Added
	}
	return e, true
}

func failed(err error) watch.Event {
	return watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}
}

// selector returns a function that reports whether the selectors of a list or watch match an object. It
// returns nil without selectors.
func (k *kind) selector(version string, o metav1.ListOptions) (func(*unstructured.Unstructured) (bool, error), error) {
	if o.LabelSelector == "" && o.FieldSelector == "" {
		return nil, nil
	}
	by, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	selectable, err := k.checkedSelectable(version, byField)
	if err != nil {
		return nil, err
	}
	return func(u *unstructured.Unstructured) (bool, error) {
		matches, err := selectable.Matches(byField, u.Object, u.GetNamespace(), u.GetName())
		return matches && by.Matches(labels.Set(u.GetLabels())), err
	}, nil
}
