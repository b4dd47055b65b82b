package fakeclient

import (
	"cmp"
	"strconv"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/x/apply"
)

// A server serves the kinds that have a CRD like an API server, one request at a time.
type server struct {
	t         testing.TB
	crds      *celadontest.CRDs
	config    Config
	types     *runtime.Scheme
	kinds     map[schema.GroupKind]*kind
	resources map[schema.GroupResource]*kind // by their names and by the names that clients guess

	mu      sync.Mutex
	version uint64 // the last resourceVersion assigned
}

// A kind holds a CRD, its objects, and all their changes. The objects are in storage form and must not be
// modified. The mutex of the server guards them.
type kind struct {
	crd        *apiextensionsv1.CustomResourceDefinition
	group      schema.GroupKind
	resource   schema.GroupResource
	namespaced bool
	managers   *apply.Managers

	objects map[string]map[string]any // by namespace and name, joined by a slash
	changes []change                  // in order
	news    chan struct{}             // closed with the next change
}

type change struct {
	version     uint64         // the last resourceVersion assigned at the time
	obj, before map[string]any // before is nil if the object did not exist
	deleted     bool
}

func newServer(t testing.TB, crds *celadontest.CRDs, cfg Config) *server {
	if cfg.Scheme == nil { // a copy, because the fake client adds kinds to it
		cfg.Scheme = runtime.NewScheme()
		if err := scheme.AddToScheme(cfg.Scheme); err != nil {
			t.Fatalf("fakeclient: %v", err)
		}
	}
	cfg.Warnings = cmp.Or[rest.WarningHandler](cfg.Warnings, rest.NoWarnings{})
	s := &server{
		t: t, crds: crds, config: cfg, types: typesOf(cfg.Scheme),
		kinds: map[schema.GroupKind]*kind{}, resources: map[schema.GroupResource]*kind{},
	}
	for _, crd := range crds.Definitions() {
		k := &kind{
			crd:        crd,
			group:      schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
			resource:   schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural},
			namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			managers:   apply.NewManagers(crd),
			objects:    map[string]map[string]any{},
			news:       make(chan struct{}),
		}
		guessed, _ := meta.UnsafeGuessKindToResource(k.group.WithVersion(""))
		s.kinds[k.group], s.resources[guessed.GroupResource()] = k, k
	}
	for _, k := range s.kinds {
		s.resources[k.resource] = k
	}
	return s
}

func (s *server) call(typed bool, verb string, gvr schema.GroupVersionResource, namespace, name string) *call {
	k := s.resources[gvr.GroupResource()]
	if k == nil {
		return nil
	}
	return &call{server: s, kind: k, typed: typed, verb: verb, version: gvr.Version, namespace: namespace, name: name}
}

// serve performs a request under the lock, and then sends its warnings without the lock, because the
// warning handler may write too.
func serve[T any](c *call, do func(*call) (T, error)) (result T, err error) {
	if err = c.route(); err == nil {
		result, err = func() (T, error) {
			c.server.mu.Lock()
			defer c.server.mu.Unlock()
			return do(c)
		}()
	}
	for _, text := range c.warnings {
		c.server.config.Warnings.HandleWarningHeader(299, "-", text)
	}
	return result, err
}

// persist removes the stored object if obj is nil. Otherwise, it takes ownership of obj.
func (c *call) persist(obj map[string]any) {
	c.server.version++
	deleted := obj == nil
	if deleted {
		obj = runtime.DeepCopyJSON(c.stored())
	}
	(&unstructured.Unstructured{Object: obj}).SetResourceVersion(strconv.FormatUint(c.server.version, 10))
	c.record(obj, deleted)
}

func (c *call) record(obj map[string]any, deleted bool) {
	k, before := c.kind, c.stored()
	if k.objects[c.key()] = obj; deleted {
		delete(k.objects, c.key())
	}
	k.changes = append(k.changes, change{c.server.version, obj, before, deleted})
	close(k.news)
	k.news = make(chan struct{})
}

func (c *call) key() string { return c.namespace + "/" + c.name }

// stored returns the object in storage form, or nil.
func (c *call) stored() map[string]any { return c.kind.objects[c.key()] }

// internal returns err as a server sends it, with status 500 if it has no status.
func internal(err error) error {
	if err == nil {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *apply.Status(err)}
}
