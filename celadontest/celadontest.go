package celadontest

import (
	"context"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Config configures the emulated API server. The zero value is the newest server with strict field
// validation.
type Config struct {
	// KubeVersion is the server's minor version, such as "1.33". The default is the newest.
	KubeVersion string
	// FieldValidation is the handling of unknown and duplicate fields: "Strict", "Warn", or
	// "Ignore". The default is "Strict", so a test fails if a field is misspelled or a Go type is
	// newer than its CRD.
	FieldValidation string
	// Scheme resolves the kinds of Go structs with an empty TypeMeta. Without it, the kind is the
	// name of the struct, and the version is the name of its package.
	Scheme *runtime.Scheme
}

// CRDs is a set of CRDs to test objects against. It is safe for concurrent use, for example by
// parallel tests.
type CRDs struct {
	config  Config
	set     *set
	watched atomic.Pointer[watched]
}

// New loads CRDs with the zero Config.
func New(t testing.TB, sources ...any) *CRDs {
	t.Helper()
	return Config{}.New(t, sources...)
}

// New loads CRDs. A source is the name of a file, the name of a folder (which is searched for
// .yaml, .yml, and .json), an fs.FS such as an embed.FS, or a *CustomResourceDefinition. New ends
// the test if a source cannot be read or contains no CRD, or if a CRD occurs twice.
func (cfg Config) New(t testing.TB, sources ...any) *CRDs {
	t.Helper()
	all, err := read(sources)
	if err != nil {
		t.Fatalf("celadontest: %v", err)
	}
	set, err := shared.set(cfg.KubeVersion, all)
	if err != nil {
		t.Fatalf("celadontest: %v", err)
	}
	return &CRDs{config: cfg, set: set}
}

// Definition returns the CRD of a kind, or nil if no CRD defines it. The CRD must not be modified.
func (c *CRDs) Definition(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	if e := c.set.catalog.Find(kind); e != nil {
		return e.CRD
	}
	return nil
}

// Definitions returns all CRDs, sorted by name. They must not be modified.
func (c *CRDs) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range c.set.catalog.Names() {
		all = append(all, c.set.catalog.Named(name).CRD)
	}
	return all
}

// Decide calls [engine.Engine.Validate] on the CRD of the object, and counts the rules that run for
// Cover. The request must have Object, not Raw. Decide returns an error if no CRD defines the
// object or if its CRD has invalid rules.
func (c *CRDs) Decide(ctx context.Context, req engine.Request) (*engine.Result, error) {
	return c.DecideKind(ctx, (&unstructured.Unstructured{Object: req.Object}).GroupVersionKind().GroupKind(), req)
}

// DecideKind is like Decide, but validates with the CRD of the given kind. A request to the URL of a
// kind is rejected if its object has another kind.
func (c *CRDs) DecideKind(ctx context.Context, kind schema.GroupKind, req engine.Request) (*engine.Result, error) {
	name, compiled, err := c.compiled(kind)
	if err != nil {
		return nil, err
	}
	if req.Observe == nil {
		req.Observe = c.observer(name)
	}
	return compiled.Validate(ctx, req)
}

// Engine returns the compiled CRD of a kind. Its validations do not count for Cover. If only rules
// are invalid, both the engine and the error are non-nil; see [engine.Compile].
func (c *CRDs) Engine(kind schema.GroupKind) (*engine.Engine, error) {
	_, compiled, err := c.compiled(kind)
	return compiled, err
}
