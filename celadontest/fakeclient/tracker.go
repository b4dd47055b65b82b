package fakeclient

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
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

var errBypassed = errors.New("fakeclient: a write is not validated: do not call WithInterceptorFuncs, which replaces the validation; wrap the client with interceptor.NewClient")

func (t *tracker) Add(obj runtime.Object) error {
	return t.server.seed(obj, func() error { return t.others.Add(obj) })
}

func (t *tracker) Get(gvr schema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions) (runtime.Object, error) {
	c := t.server.call(true, "get", gvr, ns, name)
	if c == nil {
		return t.others.Get(gvr, ns, name, opts...)
	}
	obj, err := serve(c, (*call).get)
	return &unstructured.Unstructured{Object: obj}, err
}

func (t *tracker) List(gvr schema.GroupVersionResource, gvk schema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error) {
	c := t.server.call(true, "list", gvr, ns, "")
	if c == nil {
		return t.others.List(gvr, gvk, ns, opts...)
	}
	return serve(c, func(c *call) (runtime.Object, error) { return c.list(metav1.ListOptions{}) })
}

func (t *tracker) Watch(gvr schema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error) {
	c := t.server.call(true, "watch", gvr, ns, "")
	if c == nil {
		return t.others.Watch(gvr, ns, opts...)
	}
	return serve(c, func(c *call) (watch.Interface, error) { return c.watch(opts...) })
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

// Writes of kinds with a CRD must not reach the tracker.
func (t *tracker) other(gvr schema.GroupVersionResource, write func() error) error {
	if t.server.resources[gvr.GroupResource()] != nil {
		return errBypassed
	}
	return write()
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

type converters struct {
	managedfields.TypeConverter
	known managedfields.TypeConverter
}

func (c converters) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if v, err := c.known.ObjectToTyped(obj, opts...); err == nil {
		return v, nil
	}
	return c.TypeConverter.ObjectToTyped(obj, opts...)
}
