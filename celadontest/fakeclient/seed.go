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
	gvk, k, err := s.known(obj)
	switch {
	case err != nil:
		return err
	case k == nil:
		return fmt.Errorf("no CRD of %s", gvk.GroupKind())
	}
	c := &call{server: s, kind: k, typed: true, verb: "seed", version: gvk.Version}
	given, err := c.body(obj)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: given}
	c.namespace, c.name = u.GetNamespace(), u.GetName()
	if err := c.route(); err != nil {
		return err
	}
	if err := c.options("", nil, "", "", nil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.stored() != nil {
		return apierrors.NewAlreadyExists(k.resource, c.name)
	}
	stored, err := c.seeded(given)
	if err != nil && !s.config.InvalidSeeds {
		s.t.Errorf("fakeclient: a seed is rejected (set Config.InvalidSeeds if this is intended): %v", err)
	}
	c.fill(&unstructured.Unstructured{Object: stored})
	c.record(stored, false)
	return nil
}

// seeded returns the persisted form of a seed. If a server would reject the create or the
// subsequent status update, seeded also returns its error, and the seed as the server reads a
// stored object: pruned and with defaults, or unchanged if it cannot be read.
func (c *call) seeded(given map[string]any) (map[string]any, error) {
	req := engine.Request{Object: given, FieldValidation: c.fieldValidation}
	res, err := c.accepted(req)
	if _, ok := given["status"]; err == nil && ok && c.hasStatus {
		c.subresource, req.OldObject = "status", withSystemFields(res.Stored, given)
		res, err = c.accepted(req)
	}
	if err == nil {
		return withSystemFields(res.Stored, given), nil
	}
	stored, unread := c.read(given)
	if unread != nil {
		stored = given
	}
	return stored, err
}

func (c *call) accepted(req engine.Request) (*engine.Result, error) {
	res, err := c.decide(req)
	if err == nil {
		err = rejection(res)
	}
	return res, err
}

// systemFields are the metadata fields that a create resets.
var systemFields = []string{
	"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "managedFields",
}

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
func (c *call) fill(u *unstructured.Unstructured) {
	s := c.server
	if version, err := strconv.ParseUint(u.GetResourceVersion(), 10, 64); err == nil && version > 0 {
		s.version = max(s.version, version) // clients may already use the seed's version
	} else {
		s.version++
		u.SetResourceVersion(strconv.FormatUint(s.version, 10))
	}
	if u.GetUID() == "" {
		u.SetUID(uuid.NewUUID())
	}
	if u.GetGeneration() == 0 {
		u.SetGeneration(1)
	}
	if created := u.GetCreationTimestamp(); created.IsZero() {
		u.SetCreationTimestamp(metav1.Now())
	}
	if u.GetDeletionTimestamp() != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(new(int64(0)))
	}
}
