package fakeclient

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/celadon-cel/celadon/engine"
)

// seed stores an object that exists before the test. It fails the test if a server would reject the
// object, and returns an error if the object cannot be stored at all.
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
		s.t.Errorf("fakeclient: a seed is rejected (set Config.InvalidSeeds if this is intended): %v", err)
	}
	s.fill(&unstructured.Unstructured{Object: stored})
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.store.get(c.namespace, c.name) != nil {
		return apierrors.NewAlreadyExists(k.resource, c.name)
	}
	k.store.put(stored, s.version)
	return nil
}

// seeded returns the persisted form of a seed. If a server would reject the create or the
// subsequent status update, seeded also returns its error, and the seed as the server reads a
// stored object.
func (s *server) seeded(c *call, given map[string]any) (map[string]any, error) {
	req := engine.Request{Object: given, FieldValidation: c.fieldValidation}
	res, err := s.decide(c, req)
	if err == nil {
		err = rejection(res)
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
		err = rejection(res)
	}
	if err != nil {
		return s.stored(c, given), err
	}
	return withSystemFields(res.Stored, given), nil
}

// stored returns an object as a server reads it from storage: pruned and with defaults. If the
// object cannot be read, stored returns it unchanged.
func (s *server) stored(c *call, given map[string]any) map[string]any {
	stored, err := s.read(c.kind, c.at.version, given)
	if err != nil {
		return given
	}
	return stored
}

// systemFields are the metadata fields that a create resets.
var systemFields = []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "managedFields"}

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

// fill sets the fields that all objects on a server have.
func (s *server) fill(u *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version, err := strconv.ParseUint(u.GetResourceVersion(), 10, 64); err == nil && version > 0 {
		s.version = max(s.version, version) // clients may already use the seed's version
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
