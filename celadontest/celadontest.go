package celadontest

import (
	"context"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Config is how tests differ from a client of the newest server that validates
// fields strictly. The zero value is that client.
type Config struct {
	// KubeVersion is the server's minor, as "1.33"; "" is the newest.
	KubeVersion string
	// FieldValidation is what becomes of unknown and duplicate fields: "Strict",
	// "Warn" or "Ignore". "" is "Strict", so that a misspelt field, or a Go type
	// that is ahead of its CRD, fails a test.
	FieldValidation string
	// Scheme knows the kinds of Go structs whose TypeMeta is empty. Without it the
	// kind is the name of the struct, and the version that of its package.
	Scheme *runtime.Scheme
}

// CRDs are what objects are tested against. They are safe for concurrent use, as
// by tests that run in parallel.
type CRDs struct {
	config  Config
	set     *set
	watched atomic.Pointer[watched]
}

// New reads CRDs with the zero Config.
func New(t testing.TB, sources ...any) *CRDs {
	t.Helper()
	return Config{}.New(t, sources...)
}

// New reads CRDs. A source is the name of a file or of a folder, which is walked
// for .yaml, .yml and .json, an fs.FS such as an embed.FS, or a
// *CustomResourceDefinition. What cannot be read, a source without any CRD and a CRD
// that is there twice end the test.
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

// Definition is the CRD of a kind; nil where there is none. It is read-only.
func (c *CRDs) Definition(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	if e := c.set.catalog.Find(kind); e != nil {
		return e.CRD
	}
	return nil
}

// Definitions are all CRDs, in the order of their names. They are read-only.
func (c *CRDs) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range c.set.catalog.Names() {
		all = append(all, c.set.catalog.Named(name).CRD)
	}
	return all
}

// Decide is [engine.Engine.Validate] by the CRD that the object is of, and counts
// for Cover. The request has Object, not Raw. The error is also for an object that
// no CRD is of, and for a CRD whose rules are broken.
func (c *CRDs) Decide(ctx context.Context, req engine.Request) (*engine.Result, error) {
	name, compiled, err := c.engineOf(req.Object)
	if err != nil {
		return nil, err
	}
	if req.Observe == nil {
		req.Observe = c.observer(name)
	}
	return compiled.Validate(ctx, req)
}

// Engine is the compiled CRD of a kind. What it decides does not count for Cover.
func (c *CRDs) Engine(kind schema.GroupKind) (*engine.Engine, error) {
	_, compiled, err := c.compiled(kind)
	return compiled, err
}
