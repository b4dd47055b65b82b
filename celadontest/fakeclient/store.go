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

// A store holds objects of kinds with a CRD in storage form and notifies watchers. Objects of a
// kind are stored under a single version, regardless of their apiVersion.
type store struct {
	mu      sync.Mutex
	scheme  *runtime.Scheme
	tracker clienttesting.ObjectTracker
}

// kept is the version under which all objects are stored.
const kept = "kept"

func newStore() *store {
	s := &store{scheme: runtime.NewScheme()}
	s.tracker = clienttesting.NewObjectTracker(s.scheme, serializer.NewCodecFactory(s.scheme).UniversalDecoder())
	return s
}

// of returns the resource of a kind in the tracker, and registers the kind if necessary.
func (s *store) of(k *kind) schema.GroupVersionResource {
	gvk := k.group.WithVersion(kept)
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := gvk.GroupVersion().WithKind(gvk.Kind + "List"); !s.scheme.Recognizes(list) {
		s.scheme.AddKnownTypeWithName(list, &unstructured.UnstructuredList{})
	}
	return k.resource.WithVersion(kept)
}

// get returns a copy of an object, or nil if it does not exist.
func (s *store) get(k *kind, namespace, name string) map[string]any {
	obj, err := s.tracker.Get(s.of(k), namespace, name)
	if err != nil {
		return nil // not found is the only error
	}
	return obj.(*unstructured.Unstructured).Object
}

// put creates or replaces an object.
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

// list returns the objects of a kind, sorted by namespace and name.
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
