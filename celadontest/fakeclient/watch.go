package fakeclient

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/celadon-cel/celadon/x/crdfields"
)

// A view returns a stored object in the version of a call, and reports whether the object is in the namespace
// of the call and matches its selectors.
type view func(stored map[string]any) (u *unstructured.Unstructured, matches bool, err error)

func (c *call) view(o metav1.ListOptions) (view, error) {
	by, err := labels.Parse(o.LabelSelector)
	byField, fieldErr := fields.ParseSelector(o.FieldSelector)
	if err := cmp.Or(err, fieldErr); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var selectable *crdfields.Selectable
	if !byField.Empty() {
		if selectable, err = crdfields.SelectableOf(c.served, c.kind.namespaced); err != nil {
			return nil, internal(err)
		}
		if err := selectable.Check(byField); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	return func(stored map[string]any) (*unstructured.Unstructured, bool, error) {
		obj, err := c.read(stored)
		if err != nil {
			return nil, false, err
		}
		u := &unstructured.Unstructured{Object: obj}
		matches := (c.namespace == "" || c.namespace == u.GetNamespace()) && by.Matches(labels.Set(u.GetLabels()))
		if matches && selectable != nil {
			matches, err = selectable.Matches(byField, obj, u.GetNamespace(), u.GetName())
		}
		return u, matches, internal(err)
	}, nil
}

func (c *call) list(o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	see, err := c.view(o)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{}}
	list.SetGroupVersionKind(c.kind.group.WithVersion(c.version).GroupVersion().WithKind(c.kind.group.Kind + "List"))
	list.SetResourceVersion(strconv.FormatUint(c.server.version, 10))
	for _, key := range slices.Sorted(maps.Keys(c.kind.objects)) {
		switch u, matches, err := see(c.kind.objects[key]); {
		case err != nil:
			return nil, err
		case matches:
			list.Items = append(list.Items, *u)
		}
	}
	return list, nil
}

// watch returns a watch. With options, it begins with the changes after their resourceVersion, or
// with the existing objects if that is unset or 0, as in a server. Without options, it begins with
// the next change, as in client-go's tracker. Unlike client-go's, it holds any number of events
// that are not received.
func (c *call) watch(options ...metav1.ListOptions) (watch.Interface, error) {
	o, since := metav1.ListOptions{}, uint64(0)
	if len(options) > 0 {
		o = options[0]
	}
	see, err := c.view(o)
	if err != nil {
		return nil, err
	}
	if o.ResourceVersion != "" {
		if since, err = strconv.ParseUint(o.ResourceVersion, 10, 64); err != nil {
			return nil, apierrors.NewBadRequest("invalid resource version: " + err.Error())
		}
	}
	changes, from := c.kind.changes, len(c.kind.changes)
	var events []change
	switch {
	case since > 0:
		from = sort.Search(len(changes), func(i int) bool { return changes[i].version > since })
	case len(options) > 0:
		for _, key := range slices.Sorted(maps.Keys(c.kind.objects)) {
			events = append(events, change{obj: c.kind.objects[key]})
		}
	}
	result := make(chan watch.Event)
	w := watch.NewProxyWatcher(result)
	go func() {
		defer close(result)
		for {
			c.server.mu.Lock()
			events, from = append(events, c.kind.changes[from:]...), len(c.kind.changes)
			news := c.kind.news
			c.server.mu.Unlock()
			for _, change := range events {
				e, wanted := c.event(see, change)
				if !wanted {
					continue
				}
				select {
				case result <- e:
				case <-w.StopChan():
					return
				}
			}
			events = nil
			select {
			case <-news:
			case <-w.StopChan():
				return
			}
		}
	}()
	return w, nil
}

// wanted is false if watchers do not see the change.
// An object is added when it begins to match the selectors, and deleted when it no longer matches them.
func (c *call) event(see view, change change) (e watch.Event, wanted bool) {
	u, matches, err := see(change.obj)
	before := false
	if err == nil && change.before != nil {
		_, before, err = see(change.before)
	}
	if err != nil {
		return watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}, true
	}
	e = watch.Event{Type: watch.Modified, Object: c.server.toGo(u)}
	switch {
	case !matches || change.deleted:
		e.Type = watch.Deleted
		return e, before
	case !before:
		e.Type = watch.Added
	}
	return e, true
}
