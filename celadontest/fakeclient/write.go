package fakeclient

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	suffixLength = 5
	maxBase      = 63 - suffixLength
	// tries is how often the server makes up another name.
	tries = 8
)

// create answers a POST. The object may be changed.
func (s *server) create(c *call, obj map[string]any) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &unstructured.Unstructured{Object: obj}
	version := u.GetResourceVersion()
	base := u.GetGenerateName()
	if u.GetName() != "" {
		base = ""
	}
	for try := 1; ; try++ {
		if base != "" {
			u.SetName(base[:min(len(base), maxBase)] + rand.String(suffixLength))
		}
		created, err := s.tryCreate(c, u, version)
		if base == "" || try == tries || !apierrors.IsAlreadyExists(err) {
			return created, err
		}
	}
}

func (s *server) tryCreate(c *call, u *unstructured.Unstructured, version string) (map[string]any, error) {
	c.name = u.GetName()
	res, err := s.decide(c, u.Object, nil, c.fieldValidation)
	if err != nil {
		return nil, err
	}
	s.warn(res.Warnings)
	if err := refusal(res); err != nil {
		return nil, err
	}
	if version != "" && version != "0" {
		return nil, internal(errors.New("resourceVersion should not be set on objects to be created"))
	}
	if s.store.get(c.kind, c.namespace, c.name) != nil {
		return nil, apierrors.NewAlreadyExists(c.kind.resource, c.name)
	}
	managed, err := c.update(nil, res.Object)
	if err != nil {
		return nil, internal(err)
	}
	return s.finish(c, nil, res.Object, managed)
}

// replace answers a PUT.
func (s *server) replace(c *call, obj map[string]any) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live, err := s.live(c)
	if err != nil {
		return nil, internal(err)
	}
	if live == nil {
		if res, err := s.decide(&call{kind: c.kind, at: endpoint{version: c.at.version}, namespace: c.namespace, name: c.name}, obj, nil, c.fieldValidation); err != nil || res.Failure != nil && res.Failure.Code == 400 {
			return nil, errors.Join(err, refusal(res))
		}
		return nil, c.notFound()
	}
	res, err := s.decide(c, obj, live, c.fieldValidation)
	if err != nil {
		return nil, err
	}
	s.warn(res.Warnings)
	if res.Failure != nil && res.Failure.Code == 400 {
		return nil, refusal(res)
	}
	if err := c.preconditions(live, obj); err != nil {
		return nil, err
	}
	if err := refusal(res); err != nil {
		return nil, err
	}
	return s.updated(c, live, obj, res.Object)
}

// updated persists what an update or a patch asked for.
func (s *server) updated(c *call, live, asked, decided map[string]any) (map[string]any, error) {
	managed, err := c.update(live, withManagedFields(decided, asked))
	if err != nil {
		return nil, internal(err)
	}
	return s.finish(c, live, decided, managed)
}

// withManagedFields is an object with the managedFields that a client sent, which a
// server goes by.
func withManagedFields(obj, sent map[string]any) map[string]any {
	from, _ := sent["metadata"].(map[string]any)
	fields, ok := from["managedFields"]
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	metadata := u.Object["metadata"].(map[string]any)
	if delete(metadata, "managedFields"); ok {
		metadata["managedFields"] = fields
	}
	return u.Object
}

func invalidVersion(c *call) error {
	kind := schema.GroupKind{Group: c.kind.resource.Group, Kind: c.kind.resource.Resource}
	return apierrors.NewInvalid(kind, c.name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
	})
}
