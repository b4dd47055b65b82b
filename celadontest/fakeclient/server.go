package fakeclient

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// server writes objects as an API server does, one after another.
type server struct {
	t      testing.TB
	crds   *celadontest.CRDs
	config Config
	types  *runtime.Scheme
	store  *store
	kinds  sync.Map // of *kind by schema.GroupKind

	mu      sync.Mutex // held by writes
	version uint64     // the resourceVersion given last
}

// kind is nil where no CRD is of it.
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

// kindOf finds the kind of a resource, by its name or by what clients guess it is
// called.
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

// decide is what the engine says of a write: the object as it is persisted, but for
// what only a server fills in, or the server's error.
func (s *server) decide(c *call, obj, live map[string]any, fieldValidation string) (*engine.Result, error) {
	return s.ask(c, engine.Request{Object: obj, OldObject: live, FieldValidation: fieldValidation})
}

func (s *server) ask(c *call, req engine.Request) (*engine.Result, error) {
	req.Namespace, req.Name, req.Subresource = c.namespace, c.name, c.at.subresource
	res, err := s.crds.Decide(context.Background(), req)
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

// refusal is the error of a result; nil where it is allowed.
func refusal(res *engine.Result) error {
	if res.Allowed {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *res.Failure.DeepCopy()}
}

// warn keeps what a server says in headers.
func (c *call) warn(texts []string) { c.warnings = append(c.warnings, texts...) }

// alone does a write while no other is done, and then passes its warnings on: who
// hears them may write in turn.
func (s *server) alone(c *call, do func() (map[string]any, error)) (map[string]any, error) {
	s.mu.Lock()
	answer, err := func() (map[string]any, error) {
		defer s.mu.Unlock()
		return do()
	}()
	if s.config.Warnings != nil {
		for _, text := range c.warnings {
			s.config.Warnings.HandleWarningHeader(299, "-", text)
		}
	}
	return answer, err
}

// early are the warnings of a write that does not come as far as its checks.
func early(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.HasPrefix(text, "metadata.finalizers: ") })
}

// ofPatch are the warnings of a patch, whose duplicate owner references a server finds
// late.
func ofPatch(texts []string) []string {
	late := slices.Clone(texts)
	for i := range late {
		late[i] = strings.Replace(late[i], "contains duplicate entries;", "contains duplicate entries after mutating admission happens;", 1)
	}
	return late
}

// next is the resourceVersion of the next write.
func (s *server) next() string {
	s.version++
	return strconv.FormatUint(s.version, 10)
}

// read is an object in a version. It may share memory with the one given.
func (s *server) read(k *kind, version string, obj map[string]any) (map[string]any, error) {
	want := k.group.WithVersion(version).GroupVersion().String()
	if obj["apiVersion"] == want {
		return obj, nil
	}
	asked := maps.Clone(obj)
	asked["apiVersion"] = want
	seen, err := s.crds.Prepare(engine.Request{Object: asked, OldObject: obj})
	if err != nil {
		return nil, err
	}
	return seen.Old(), nil
}

// live is the object that a call is about, in its version; nil where there is none.
func (s *server) live(c *call) (map[string]any, error) {
	obj := s.store.get(c.kind, c.namespace, c.name)
	if obj == nil {
		return nil, nil
	}
	return s.read(c.kind, c.at.version, obj)
}

// internal is what a server answers to an error that has no status.
func internal(err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}}
}
