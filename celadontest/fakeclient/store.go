package fakeclient

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// A store holds objects of kinds with a CRD in storage form, and their changes. Objects of a
// kind are stored under a single version, regardless of their apiVersion.
type store struct {
	mu      sync.Mutex
	scheme  *runtime.Scheme
	tracker clienttesting.ObjectTracker
	logs    map[schema.GroupKind]*history
}

// kept is the version under which all objects are stored.
const kept = "kept"

func newStore() *store {
	s := &store{scheme: runtime.NewScheme(), logs: map[schema.GroupKind]*history{}}
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

// put creates or replaces an object, which must not change afterward. last is the last resourceVersion
// assigned.
func (s *store) put(k *kind, obj map[string]any, replace bool, last uint64) error {
	u := &unstructured.Unstructured{Object: obj} // the tracker copies it
	if replace {
		return s.changed(k, change{last, watch.Modified, obj}, s.tracker.Update(s.of(k), u, u.GetNamespace()))
	}
	return s.changed(k, change{last, watch.Added, obj}, s.tracker.Create(s.of(k), u, u.GetNamespace()))
}

// delete removes an object. version is the resourceVersion of the deletion.
func (s *store) delete(k *kind, namespace, name string, version uint64) error {
	u := &unstructured.Unstructured{Object: s.get(k, namespace, name)}
	u.SetResourceVersion(strconv.FormatUint(version, 10))
	return s.changed(k, change{version, watch.Deleted, u.Object}, s.tracker.Delete(s.of(k), namespace, name))
}

// changed records a change unless it failed.
func (s *store) changed(k *kind, c change, err error) error {
	if err == nil {
		s.log(k).add(c)
	}
	return err
}

// log returns the changes of a kind.
func (s *store) log(k *kind) *history {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[k.group] == nil {
		s.logs[k.group] = &history{news: make(chan struct{})}
	}
	return s.logs[k.group]
}

// list returns the objects of a kind, sorted by namespace and name.
func (s *store) list(k *kind, namespace string) ([]unstructured.Unstructured, error) {
	list, err := s.tracker.List(s.of(k), k.group.WithVersion(kept), namespace)
	if err != nil {
		return nil, err
	}
	return list.(*unstructured.UnstructuredList).Items, nil
}
