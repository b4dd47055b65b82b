package fakeclient

import (
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// A tracker serves the reads of controller-runtime's fake client. It reads kinds with a CRD from
// the server, and other kinds from the fake client's usual tracker.
type tracker struct {
	server *server
	others clienttesting.ObjectTracker
}

// errBypassed is the error for a write that did not come through the interceptors.
var errBypassed = errors.New("fakeclient: a write is not validated: do not call WithInterceptorFuncs, which replaces the validation; wrap the client with interceptor.NewClient")

func (t *tracker) Add(obj runtime.Object) error {
	gvk, err := t.server.gvkOf(obj)
	if err != nil || t.server.kind(gvk.GroupKind()) == nil {
		return t.others.Add(obj)
	}
	return t.server.seed(obj)
}

func (t *tracker) Get(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions) (runtime.Object, error) {
	k := t.server.kindOf(gvr)
	if k == nil {
		return t.others.Get(gvr, ns, name, opts...)
	}
	return t.server.get(k, endpoint{version: gvr.Version}, ns, name)
}

func (t *tracker) List(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error) {
	k := t.server.kindOf(gvr)
	if k == nil {
		return t.others.List(gvr, gvk, ns, opts...)
	}
	return t.server.list(k, gvr.Version, ns, "")
}

func (t *tracker) Watch(gvr schema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error) {
	k := t.server.kindOf(gvr)
	if k == nil {
		return t.others.Watch(gvr, ns, opts...)
	}
	return t.server.watch(k, gvr.Version, ns, opts...)
}

func (t *tracker) Create(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error {
	return t.other(gvr, func() error { return t.others.Create(gvr, obj, ns, opts...) })
}

func (t *tracker) Update(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error {
	return t.other(gvr, func() error { return t.others.Update(gvr, obj, ns, opts...) })
}

func (t *tracker) Patch(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	return t.other(gvr, func() error { return t.others.Patch(gvr, obj, ns, opts...) })
}

func (t *tracker) Apply(gvr schema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	return t.other(gvr, func() error { return t.others.Apply(gvr, obj, ns, opts...) })
}

func (t *tracker) Delete(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions) error {
	return t.other(gvr, func() error { return t.others.Delete(gvr, ns, name, opts...) })
}

// other calls write for a kind without a CRD.
func (t *tracker) other(gvr schema.GroupVersionResource, write func() error) error {
	if t.server.kindOf(gvr) != nil {
		return errBypassed
	}
	return write()
}

func (s *server) get(k *kind, at endpoint, namespace, name string) (runtime.Object, error) {
	c, err := s.newCall(k, at, namespace, name, "get")
	if err != nil {
		return nil, err
	}
	obj, err := s.live(c)
	switch {
	case err != nil:
		return nil, internal(err)
	case obj == nil:
		return nil, c.notFound()
	}
	return &unstructured.Unstructured{Object: obj}, nil
}

// list lists the objects that a field selector matches. The callers select by label.
func (s *server) list(k *kind, version, namespace, selector string) (runtime.Object, error) {
	c, err := s.newCollection(k, version, namespace, "list")
	if err != nil {
		return nil, err
	}
	by, byField, err := selectors(metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return nil, err
	}
	selected, err := k.selected(version, by, byField)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	items := k.store.list(c.namespace)
	last := s.version
	s.mu.Unlock()
	list := &unstructured.UnstructuredList{Items: items[:0]}
	list.SetGroupVersionKind(k.group.WithVersion(version).GroupVersion().WithKind(k.group.Kind + "List"))
	for i := range items {
		item := unstructured.Unstructured{}
		if item.Object, err = s.read(k, version, items[i].Object); err != nil {
			return nil, internal(err)
		}
		matches, err := selected(&item)
		if err != nil {
			return nil, internal(err)
		}
		if matches {
			list.Items = append(list.Items, item)
		}
	}
	list.SetResourceVersion(strconv.FormatUint(last, 10))
	return list, nil
}

// typed returns an object in its Go type from the scheme, as watchers expect it.
func (s *server) typed(u *unstructured.Unstructured) runtime.Object {
	obj, err := s.types.New(u.GroupVersionKind())
	if err != nil {
		return u
	}
	if _, untyped := obj.(runtime.Unstructured); untyped || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj) != nil {
		return u
	}
	return obj
}

// otherKinds returns the tracker that the fake client would create for itself.
func otherKinds(s *runtime.Scheme) clienttesting.ObjectTracker {
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		panic(err) // two of client-go's kinds have the same name
	}
	return clienttesting.NewFieldManagedObjectTracker(s, serializer.NewCodecFactory(s).UniversalDecoder(),
		converters{managedfields.NewDeducedTypeConverter(), applyconfigurations.NewTypeConverter(known)})
}

// converters tries the converter of client-go's kinds first.
type converters struct {
	managedfields.TypeConverter
	known managedfields.TypeConverter
}

func (c converters) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	v, knownErr := c.known.ObjectToTyped(obj, opts...)
	if knownErr == nil {
		return v, nil
	}
	v, err := c.TypeConverter.ObjectToTyped(obj, opts...)
	if err != nil {
		return nil, utilerrors.NewAggregate([]error{knownErr, err})
	}
	return v, nil
}
