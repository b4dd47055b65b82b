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
	// tries limits how often the server generates a name.
	tries = 8
)

// create handles a POST request. It may modify obj.
func (s *server) create(c *call, obj map[string]any) (map[string]any, error) {
	return s.alone(c, func() (map[string]any, error) { return s.named(c, obj) })
}

// named creates an object under its own name or a generated name.
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
	req := engine.Request{Object: u.Object, FieldValidation: c.fieldValidation}
	res, err := s.decide(c, req)
	if err != nil {
		return nil, err
	}
	c.warn(res.Warnings)
	if err := rejection(res); err != nil {
		return nil, err
	}
	if c.sent != "" && c.sent != "0" && !c.dryRun {
		return nil, internal(errors.New("resourceVersion should not be set on objects to be created"))
	}
	if there := c.kind.store.get(c.namespace, c.name); there != nil {
		err := apierrors.NewAlreadyExists(c.kind.resource, c.name)
		if (&unstructured.Unstructured{Object: there}).GetDeletionTimestamp() != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	return s.updated(c, req, res)
}

// replace handles a PUT request.
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
	req := engine.Request{Object: obj, OldObject: live, FieldValidation: c.fieldValidation}
	res, err := s.decide(c, req)
	if err != nil {
		return nil, err
	}
	if err := s.accepted(c, req, res); err != nil {
		return nil, err
	}
	return s.updated(c, req, res, "managedFields")
}

// accepted returns the error of a write, in the order in which a server checks: decoding,
// preconditions, validation. It records the warnings of the steps that were reached.
func (s *server) accepted(c *call, req engine.Request, res *engine.Result) error {
	if unreadable(res) || req.OldObject == nil {
		c.warn(res.Warnings)
		return rejection(res)
	}
	if err := c.preconditions(req.OldObject, req.Object); err != nil {
		s.warnEarly(c, req)
		return err
	}
	c.warn(res.Warnings)
	return rejection(res)
}

// unreadable reports whether a server rejects the request before it reads the stored object.
func unreadable(res *engine.Result) bool {
	return res.Failure != nil && res.Failure.Code == http.StatusBadRequest
}

// warnEarly records the warnings of a write that fails before validation.
func (s *server) warnEarly(c *call, req engine.Request) {
	if p, err := s.prepare(c, req); err == nil {
		c.warn(p.Warnings)
	}
}

// replaceNothing returns the error for an object that does not exist. Decoding errors come first.
func (s *server) replaceNothing(c *call, obj map[string]any) error {
	create := *c
	create.at.subresource = ""
	req := engine.Request{Object: obj, FieldValidation: c.fieldValidation}
	res, err := s.decide(&create, req)
	switch {
	case err != nil:
		return err
	case unreadable(res):
		c.warn(res.Warnings)
		return rejection(res)
	}
	s.warnEarly(&create, req)
	c.warn(create.warnings)
	return c.notFound()
}

// updated persists the result of a write other than apply. The field manager sees the metadata
// lists named in sent as the client sent them.
func (s *server) updated(c *call, req engine.Request, res *engine.Result, sent ...string) (map[string]any, error) {
	managed, err := s.decodedBy(c, req)
	if err != nil {
		return nil, internal(err)
	}
	fields, err := c.update(req.OldObject, withFields(managed, req.Object, sent...))
	if err != nil {
		return nil, internal(err)
	}
	return s.finish(c, req, res, fields)
}

// decodedBy returns the object of a request as the field manager sees it: in the version of the
// request, before fields that belong to another endpoint are reset.
func (s *server) decodedBy(c *call, req engine.Request) (map[string]any, error) {
	whole, status := *c, *c
	whole.at.subresource, status.at.subresource = "", "status"
	p, err := s.prepare(&whole, req)
	if err != nil {
		return nil, err
	}
	decoded := maps.Clone(p.Self)
	if req.OldObject == nil || !c.kind.hasStatus(c.at.version) {
		return decoded, nil
	}
	if p, err = s.prepare(&status, req); err != nil {
		return nil, err
	}
	if delete(decoded, "status"); p.Self["status"] != nil {
		decoded["status"] = p.Self["status"]
	}
	return decoded, nil
}

// withFields returns obj with the named metadata lists replaced by those in sent. Empty lists are
// removed.
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
