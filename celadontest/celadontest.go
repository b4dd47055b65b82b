package celadontest

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
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
	// name of the struct, and the version is the last element of its package's path, or else the
	// only served version.
	Scheme *runtime.Scheme
}

// CRDs is a set of CRDs to test objects against. It is safe for concurrent use, for example by
// parallel tests.
type CRDs struct {
	config  Config
	catalog *catalog.Catalog
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
	catalog, err := shared.catalog(cfg.KubeVersion, all)
	if err != nil {
		t.Fatalf("celadontest: %v", err)
	}
	return &CRDs{config: cfg, catalog: catalog}
}

// Definition returns the CRD of a kind, or nil if no CRD defines it. The CRD must not be modified.
func (c *CRDs) Definition(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	if e := c.catalog.Find(kind); e != nil {
		return e.CRD
	}
	return nil
}

// Definitions returns all CRDs, sorted by name. They must not be modified.
func (c *CRDs) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range c.catalog.Names() {
		all = append(all, c.catalog.Named(name).CRD)
	}
	return all
}

// Decide calls [engine.Engine.Validate] on the CRD of the object. Unless the request has Observe,
// it counts the rules that run for Cover. The request must have Object, not Raw. Decide also
// returns an error if no CRD defines the object or if its CRD has invalid rules.
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

type watched struct {
	recorder *coverage.Recorder
	byCRD    map[string]*coverage.Watch
}

const maxGaps = 50

// Cover requires that, in all later writes, at least percent of the rules run and reject an object.
// When t and its subtests have ended, it fails t if the coverage is lower, and lists the missing
// rules. Cover compiles all CRDs and makes writes slower.
func (c *CRDs) Cover(t testing.TB, percent float64) {
	t.Helper()
	w := &watched{coverage.New(), map[string]*coverage.Watch{}}
	for _, name := range c.catalog.Names() {
		e := c.catalog.Named(name)
		compiled, err := e.Engine()
		if err == nil {
			w.byCRD[name], err = w.recorder.Watch(e.CRD, compiled)
		}
		if err != nil {
			t.Fatalf("celadontest: CRD %s: %v", name, err)
		}
	}
	if !c.watched.CompareAndSwap(nil, w) {
		t.Fatalf("celadontest: Cover is already on: call it once for all tests of these CRDs, before their writes")
	}
	t.Cleanup(func() {
		t.Helper()
		c.watched.Store(nil)
		if report := w.recorder.Report(); report.Percent() < percent {
			t.Errorf("celadontest: coverage is %.1f %%, want %v; of %d rules, %d ran and %d rejected%s",
				report.Percent(), percent, report.Rules, report.Ran, report.Rejected, gaps(report))
		}
	})
}

func gaps(report *coverage.Report) string {
	var b strings.Builder
	left := -maxGaps
	for i := range report.Items {
		item := &report.Items[i]
		if item.Rejected > 0 {
			continue
		}
		if left++; left > 0 {
			continue
		}
		remark := "never rejected"
		if item.Ran == 0 {
			remark = "never ran"
		}
		untrusted.Fprintf(&b, "\n  %s %s %s: %s: %s", item.CRD, item.Version, cmp.Or(item.Path, "the root"), remark, item.Rule)
	}
	if left > 0 {
		untrusted.Fprintf(&b, "\n  and %d more", left)
	}
	return b.String()
}

func (c *CRDs) observer(crd string) func(engine.RuleRun) {
	w := c.watched.Load()
	if w == nil {
		return nil
	}
	return w.byCRD[crd].Observe
}
