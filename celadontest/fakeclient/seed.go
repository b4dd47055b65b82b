package fakeclient

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/celadon-cel/celadon/engine"
)

// seed stores what is there before the test. It fails the test where a server would
// not have it; the error is of what cannot be stored at all.
func (s *server) seed(obj runtime.Object) error {
	if meta.IsListType(obj) {
		return meta.EachListItem(obj, s.seed)
	}
	gvk, err := s.gvkOf(obj)
	if err != nil {
		return err
	}
	k := s.kind(gvk.GroupKind())
	if k == nil {
		return fmt.Errorf("no CRD of %s", gvk.GroupKind())
	}
	given, err := sent(obj, gvk)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: given}
	c, err := s.path(k, endpoint{version: gvk.Version}, u.GetNamespace(), u.GetName(), "seed")
	if err != nil {
		return err
	}
	stored, err := s.seeded(c.options(s, "", "", nil), given)
	if err != nil && !s.config.InvalidSeeds {
		s.t.Errorf("fakeclient: a seed that is refused (Config.InvalidSeeds says that it is meant): %v", err)
	}
	s.fill(&unstructured.Unstructured{Object: stored})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.put(k, stored, false)
}

// seeded is a seed as it is persisted, or as a server reads what was stored before it
// would refuse it, beside what does: the create, or the status update behind it.
func (s *server) seeded(c *call, given map[string]any) (map[string]any, error) {
	req := engine.Request{Object: given, FieldValidation: c.fieldValidation}
	res, err := s.decide(c, req)
	if err == nil {
		err = refusal(res)
	}
	if err != nil {
		return s.stored(c, given), err
	}
	stored := withSystemFields(res.Stored, given)
	if _, ok := given["status"]; !ok || !c.kind.hasStatus(c.at.version) {
		return stored, nil
	}
	status := *c
	status.at.subresource, req.OldObject = "status", stored
	if res, err = s.decide(&status, req); err == nil {
		err = refusal(res)
	}
	if err != nil {
		return s.stored(c, given), err
	}
	return withSystemFields(res.Stored, given), nil
}

// stored is an object as a server reads it from its store: pruned and with defaults. One
// that it could not read at all is left as it is.
func (s *server) stored(c *call, given map[string]any) map[string]any {
	stored, err := s.read(c.kind, c.at.version, given)
	if err != nil {
		return given
	}
	return stored
}

// systemFields are those of an object's metadata that a create does away with.
var systemFields = []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "managedFields"}

// withSystemFields is an object with what the seed has of them.
func withSystemFields(obj, seed map[string]any) map[string]any {
	obj = runtime.DeepCopyJSON(obj)
	to := obj["metadata"].(map[string]any)
	from, _ := seed["metadata"].(map[string]any)
	for _, name := range systemFields {
		if v, ok := from[name]; ok && v != nil {
			to[name] = v
		}
	}
	return obj
}

// fill gives a seed what all objects on a server have.
func (s *server) fill(u *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version, err := strconv.ParseUint(u.GetResourceVersion(), 10, 64); err == nil && version > 0 {
		s.version = max(s.version, version) // which whoever has the seed goes by
	} else {
		u.SetResourceVersion(s.next())
	}
	if u.GetUID() == "" {
		u.SetUID(uuid.NewUUID())
	}
	if u.GetGeneration() == 0 {
		u.SetGeneration(1)
	}
	if created := u.GetCreationTimestamp(); created.IsZero() {
		u.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	}
	if u.GetDeletionTimestamp() != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(new(int64(0)))
	}
}
