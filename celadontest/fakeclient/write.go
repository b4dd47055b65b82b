package fakeclient

import (
	"errors"
	"maps"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/celadon-cel/celadon/engine"
)

const (
	suffixLength = 5
	maxBase      = 63 - suffixLength
	// tries is how often the server makes up another name.
	tries = 8
)

// create answers a POST. The object may be changed.
func (s *server) create(c *call, obj map[string]any) (map[string]any, error) {
	return s.alone(c, func() (map[string]any, error) { return s.named(c, obj) })
}

// named creates an object under its own name, or one that is made up.
func (s *server) named(c *call, obj map[string]any) (map[string]any, error) {
	u := &unstructured.Unstructured{Object: obj}
	c.sent = u.GetResourceVersion()
	base := u.GetGenerateName()
	if u.GetName() != "" {
		base = ""
	}
	for try := 1; ; try++ {
		if base != "" {
			u.SetName(base[:min(len(base), maxBase)] + rand.String(suffixLength))
		}
		created, err := s.tryCreate(c, u)
		if base == "" || try == tries || !apierrors.IsAlreadyExists(err) {
			return created, err
		}
	}
}

func (s *server) tryCreate(c *call, u *unstructured.Unstructured) (map[string]any, error) {
	c.name = u.GetName()
	res, err := s.decide(c, u.Object, nil, c.fieldValidation)
	if err != nil {
		return nil, err
	}
	c.warn(res.Warnings)
	if err := refusal(res); err != nil {
		return nil, err
	}
	if c.sent != "" && c.sent != "0" && !c.dryRun {
		return nil, internal(errors.New("resourceVersion should not be set on objects to be created"))
	}
	if there := s.store.get(c.kind, c.namespace, c.name); there != nil {
		err := apierrors.NewAlreadyExists(c.kind.resource, c.name)
		if (&unstructured.Unstructured{Object: there}).GetDeletionTimestamp() != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	managed, err := c.update(nil, res.Object)
	if err != nil {
		return nil, internal(err)
	}
	return s.finish(c, nil, res.Object, managed)
}

// replace answers a PUT.
func (s *server) replace(c *call, obj map[string]any) (map[string]any, error) {
	return s.alone(c, func() (map[string]any, error) { return s.put(c, obj) })
}

func (s *server) put(c *call, obj map[string]any) (map[string]any, error) {
	live, err := s.live(c)
	if err != nil {
		return nil, internal(err)
	}
	if live == nil {
		return nil, s.replaceNothing(c, obj)
	}
	res, err := s.decide(c, obj, live, c.fieldValidation)
	if err != nil {
		return nil, err
	}
	if err := s.accepted(c, live, obj, res, res.Warnings); err != nil {
		return nil, err
	}
	return s.updated(c, live, res.Object, withFields(s.decodedBy(c, obj, res), obj, "managedFields"))
}

// decodedBy is a request's object as the field manager sees it: before a status write
// puts back all but the status.
func (s *server) decodedBy(c *call, obj map[string]any, res *engine.Result) map[string]any {
	if c.at.subresource == "" {
		return res.Object
	}
	seen, err := s.crds.Prepare(engine.Request{Object: obj, Namespace: c.namespace})
	if err != nil {
		return res.Object // what a create would refuse, a status write does not look at
	}
	decoded := maps.Clone(seen.Self())
	decoded["metadata"] = res.Object["metadata"]
	if delete(decoded, "status"); res.Object["status"] != nil {
		decoded["status"] = res.Object["status"]
	}
	return decoded
}

// accepted is a server's order: what it cannot read, what the write builds on, what is
// refused. It passes on the warnings that come with each.
func (s *server) accepted(c *call, live, obj map[string]any, res *engine.Result, warnings []string) error {
	var err error
	if res.Failure != nil && res.Failure.Code == http.StatusBadRequest {
		err = refusal(res)
	} else if live != nil {
		err = c.preconditions(live, obj)
	}
	if err != nil {
		c.warn(early(warnings))
		return err
	}
	c.warn(warnings)
	return refusal(res)
}

// replaceNothing is the answer where there is no such object: that it cannot be read
// comes first.
func (s *server) replaceNothing(c *call, obj map[string]any) error {
	create := *c
	create.at.subresource = ""
	res, err := s.decide(&create, obj, nil, c.fieldValidation)
	if err != nil {
		return err
	}
	c.warn(early(res.Warnings))
	if res.Failure != nil && res.Failure.Code == http.StatusBadRequest {
		return refusal(res)
	}
	return c.notFound()
}

// updated persists what an update or a patch came to; managed is that as the server's
// field manager sees it.
func (s *server) updated(c *call, live, obj, managed map[string]any) (map[string]any, error) {
	fields, err := c.update(live, managed)
	if err != nil {
		return nil, internal(err)
	}
	return s.finish(c, live, obj, fields)
}

// withFields is an object with some lists of its metadata as a client sent them; an
// empty one is as none.
func withFields(obj, sent map[string]any, names ...string) map[string]any {
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	metadata := u.Object["metadata"].(map[string]any)
	from, _ := sent["metadata"].(map[string]any)
	for _, name := range names {
		delete(metadata, name)
		if list, _ := from[name].([]any); len(list) > 0 {
			metadata[name] = list
		}
	}
	return u.Object
}
