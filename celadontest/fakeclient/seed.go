package fakeclient

import (
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/celadon-cel/celadon/engine"
)

// seed fails the test if a server would reject the object and Config.InvalidSeeds is not set. For a kind
// without a CRD, it calls others.
func (s *server) seed(obj runtime.Object, others func() error) error {
	if meta.IsListType(obj) {
		return meta.EachListItem(obj, func(item runtime.Object) error { return s.seed(item, others) })
	}
	known, ok := obj.(client.Object)
	if !ok {
		return others()
	}
	return s.ours(known, nil, "seed", "", sending("", obj, metav1.CreateOptions{}, (*call).seed), others)
}

func (c *call) seed(given map[string]any) (map[string]any, error) {
	if c.stored() != nil {
		return nil, apierrors.NewAlreadyExists(c.kind.resource, c.name)
	}
	stored, err := c.seeded(given)
	if err != nil && !c.server.config.InvalidSeeds {
		c.server.t.Errorf("fakeclient: a seed is rejected (set Config.InvalidSeeds if this is intended): %v", err)
	}
	c.complete(&unstructured.Unstructured{Object: stored}, given)
	c.record(stored, false)
	c.warnings = nil
	return nil, nil
}

// seeded returns the persisted form of a seed. If a server would reject the create or the
// subsequent status update, seeded also returns its error, and the seed as the server reads a
// stored object: pruned and with defaults, or unchanged if it cannot be read.
func (c *call) seeded(given map[string]any) (map[string]any, error) {
	req := engine.Request{Object: given, FieldValidation: c.fieldValidation}
	res, err := c.decide(req)
	if _, ok := given["status"]; err == nil && ok && c.hasStatus {
		c.subresource, req.OldObject = "status", res.Stored
		res, err = c.decide(req)
	}
	if err == nil {
		return runtime.DeepCopyJSON(res.Stored), nil
	}
	if stored, unread := c.read(given); unread == nil {
		return stored, err
	}
	return given, err
}

var systemFields = []string{
	"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion",
	"managedFields",
}

func (c *call) complete(u *unstructured.Unstructured, seed map[string]any) {
	from, _ := seed["metadata"].(map[string]any)
	for _, name := range systemFields {
		if v := from[name]; v != nil {
			u.Object["metadata"].(map[string]any)[name] = v
		}
	}
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
