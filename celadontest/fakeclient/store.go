package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// store keeps objects of kinds with a CRD in the form of storage, and tells those who
// watch. Each kind is kept under one version, whatever an object says.
type store struct {
	mu      sync.Mutex
	scheme  *runtime.Scheme
	tracker clienttesting.ObjectTracker
}

// kept stands for the version under which objects are kept.
const kept = "kept"

func newStore() *store {
	s := &store{scheme: runtime.NewScheme()}
	s.tracker = clienttesting.NewObjectTracker(s.scheme, serializer.NewCodecFactory(s.scheme).UniversalDecoder())
	return s
}

// of is where a kind's objects are, which the tracker has to know first.
func (s *store) of(k *kind) schema.GroupVersionResource {
	gvk := k.group.WithVersion(kept)
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := gvk.GroupVersion().WithKind(gvk.Kind + "List"); !s.scheme.Recognizes(list) {
		s.scheme.AddKnownTypeWithName(list, &unstructured.UnstructuredList{})
	}
	return k.resource.WithVersion(kept)
}

// get is nil where there is no such object. It is the caller's.
func (s *store) get(k *kind, namespace, name string) map[string]any {
	obj, err := s.tracker.Get(s.of(k), namespace, name)
	if err != nil {
		return nil // there is no other error
	}
	return obj.(*unstructured.Unstructured).Object
}

// put adds or replaces an object.
func (s *store) put(k *kind, obj map[string]any, replace bool) error {
	u := &unstructured.Unstructured{Object: obj}
	if replace {
		return s.tracker.Update(s.of(k), u, u.GetNamespace())
	}
	return s.tracker.Create(s.of(k), u, u.GetNamespace())
}

func (s *store) delete(k *kind, namespace, name string) error {
	return s.tracker.Delete(s.of(k), namespace, name)
}

// list is sorted by namespace and name.
func (s *store) list(k *kind, namespace string) ([]unstructured.Unstructured, error) {
	list, err := s.tracker.List(s.of(k), k.group.WithVersion(kept), namespace)
	if err != nil {
		return nil, err
	}
	return list.(*unstructured.UnstructuredList).Items, nil
}

func (s *store) watch(k *kind, namespace string) (watch.Interface, error) {
	return s.tracker.Watch(s.of(k), namespace)
}
