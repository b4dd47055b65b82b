package fakeclient

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/engine"
)

// A server writes objects like an API server, one at a time.
type server struct {
	t      testing.TB
	crds   *celadontest.CRDs
	config Config
	types  *runtime.Scheme
	kinds  sync.Map // of *kind by schema.GroupKind

	mu      sync.Mutex // held by writes
	version uint64     // the last resourceVersion assigned
}

// kind returns the kind of a CRD, or nil without a CRD.
func (s *server) kind(gk schema.GroupKind) *kind {
	if k, ok := s.kinds.Load(gk); ok {
		return k.(*kind)
	}
	crd := s.crds.Definition(gk)
	if crd == nil {
		return nil
	}
	k, _ := s.kinds.LoadOrStore(gk, newKind(crd))
	return k.(*kind)
}

// kindOf returns the kind of a resource, by its name or by the name that clients guess.
func (s *server) kindOf(gvr schema.GroupVersionResource) *kind {
	for _, crd := range s.crds.Definitions() {
		if crd.Spec.Group != gvr.Group {
			continue
		}
		k := s.kind(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
		guessed, _ := meta.UnsafeGuessKindToResource(k.group.WithVersion(gvr.Version))
		if gvr.Resource == k.resource.Resource || gvr == guessed {
			return k
		}
	}
	return nil
}

// decide validates a write. The object in the result is as persisted, except for the fields that
// only a server sets. If the write is undecided, decide fails the test and returns a server error.
func (s *server) decide(c *call, req engine.Request) (*engine.Result, error) {
	res, err := s.crds.DecideKind(context.Background(), c.kind.group, c.request(req))
	if err == nil && res.Undecided != nil {
		err = res.Undecided
	}
	var limit *engine.WorkLimitError
	switch {
	case errors.As(err, &limit):
		s.t.Errorf("fakeclient: %s %q: %v", c.kind.group.Kind, c.name, err)
		return nil, apierrors.NewTimeoutError(err.Error(), 0)
	case err != nil:
		s.t.Errorf("fakeclient: %s %q: %v", c.kind.group.Kind, c.name, err)
		return nil, apierrors.NewInternalError(err)
	}
	return res, nil
}

// prepare performs a write up to its validation.
func (s *server) prepare(c *call, req engine.Request) (*engine.Prepared, error) {
	e, err := s.engine(c.kind)
	if err != nil {
		return nil, err
	}
	return e.Prepare(c.request(req))
}

// rejection returns the error of a result, or nil if the write is allowed.
func rejection(res *engine.Result) error {
	if res.Allowed {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *res.Failure.DeepCopy()}
}

// request adds the data from the URL.
func (c *call) request(req engine.Request) engine.Request {
	req.Namespace, req.Name, req.Subresource = c.namespace, c.name, c.at.subresource
	return req
}

// warn records warnings that a server sends in headers. Each text is sent once.
func (c *call) warn(texts []string) {
	for _, text := range texts {
		if text != c.deprecation && !slices.Contains(c.warnings, text) {
			c.warnings = append(c.warnings, text)
		}
	}
}

func (s *server) send(warnings ...string) {
	for _, text := range warnings {
		if s.config.Warnings != nil && text != "" {
			s.config.Warnings.HandleWarningHeader(299, "-", text)
		}
	}
}

// alone performs a write under the lock, and then sends its warnings without the lock, because the
// warning handler may write too.
func (s *server) alone(c *call, do func() (map[string]any, error)) (map[string]any, error) {
	s.mu.Lock()
	answer, err := func() (map[string]any, error) {
		defer s.mu.Unlock()
		return do()
	}()
	s.send(c.warnings...)
	return answer, err
}

// next returns the resourceVersion of the next write. s.mu must be held.
func (s *server) next() string {
	s.version++
	return strconv.FormatUint(s.version, 10)
}

// remove removes the object of a call from the store. s.mu must be held.
func (s *server) remove(c *call) {
	s.version++
	c.kind.store.delete(c.namespace, c.name, s.version)
}

// engine returns the compiled CRD of a kind. It ignores invalid rules, because reads do not run
// them.
func (s *server) engine(k *kind) (*engine.Engine, error) {
	e, err := s.crds.Engine(k.group)
	if e != nil {
		return e, nil
	}
	return nil, err
}

// read converts a stored object to a version. The result can share memory with obj.
func (s *server) read(k *kind, version string, obj map[string]any) (map[string]any, error) {
	e, err := s.engine(k)
	if err != nil {
		return nil, err
	}
	return e.Convert(context.Background(), obj, version)
}

// live returns the stored object of a call in the version of the call, or nil if it does not exist.
func (s *server) live(c *call) (map[string]any, error) {
	obj := c.kind.store.get(c.namespace, c.name)
	if obj == nil {
		return nil, nil
	}
	return s.read(c.kind, c.at.version, obj)
}

// internal returns the error that a server sends for an error without a status.
func internal(err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}}
}
