package fakeclient

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A store holds the objects of a kind in storage form, and all their changes. It is safe for concurrent
// use.
type store struct {
	mu      sync.Mutex
	objects map[types.NamespacedName]map[string]any // the values must not be modified
	changes []change                                // in order
	news    chan struct{}                           // closed with the next change
}

// A change is a write of an object. The objects must not be modified.
type change struct {
	version uint64 // the last resourceVersion assigned at the time
	kind    watch.EventType
	obj     map[string]any
	before  map[string]any // nil if there was none
}

func newStore() *store {
	return &store{objects: map[types.NamespacedName]map[string]any{}, news: make(chan struct{})}
}

// get returns a copy of an object, or nil if it does not exist.
func (s *store) get(namespace, name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return runtime.DeepCopyJSON(s.objects[types.NamespacedName{Namespace: namespace, Name: name}])
}

// list returns copies of all objects in a namespace, or in all of them, sorted by namespace and name.
func (s *store) list(namespace string) []unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []unstructured.Unstructured{}
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		if namespace == "" || key.Namespace == namespace {
			items = append(items, unstructured.Unstructured{Object: runtime.DeepCopyJSON(s.objects[key])})
		}
	}
	return items
}

// put creates or replaces an object, which must not change afterward. last is the last resourceVersion
// assigned.
func (s *store) put(obj map[string]any, last uint64) {
	s.change(change{version: last, kind: watch.Modified, obj: obj})
}

// delete removes an object. version is the resourceVersion of the deletion.
func (s *store) delete(namespace, name string, version uint64) {
	u := &unstructured.Unstructured{Object: s.get(namespace, name)}
	u.SetResourceVersion(strconv.FormatUint(version, 10))
	s.change(change{version: version, kind: watch.Deleted, obj: u.Object})
}

func (s *store) change(c change) {
	u := &unstructured.Unstructured{Object: c.obj}
	key := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.before = s.objects[key]
	switch {
	case c.kind == watch.Deleted:
		delete(s.objects, key)
	case c.before == nil:
		c.kind = watch.Added
		fallthrough
	default:
		s.objects[key] = c.obj
	}
	s.changes = append(s.changes, c)
	close(s.news)
	s.news = make(chan struct{})
}

// after returns the index of the first change after a resourceVersion.
func (s *store) after(version uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sort.Search(len(s.changes), func(i int) bool { return s.changes[i].version > version })
}

// wait returns a change, or false if done is closed before it happens.
func (s *store) wait(i int, done <-chan struct{}) (change, bool) {
	for {
		s.mu.Lock()
		if i < len(s.changes) {
			defer s.mu.Unlock()
			return s.changes[i], true
		}
		news := s.news
		s.mu.Unlock()
		select {
		case <-news:
		case <-done:
			return change{}, false
		}
	}
}
