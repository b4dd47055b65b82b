package verdict

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// Live decides documents like celadon check, but its CRDs can change. It is safe for concurrent use.
type Live struct {
	mu sync.RWMutex
	c  *Decider
}

// NewLive returns a Live without CRDs.
func NewLive(cfg engine.Config) *Live {
	c := Config{KubeVersion: cfg.KubeVersion, Validation: "Strict", Locate: true, Explain: true}
	return &Live{c: &Decider{Config: c, CRDs: gathered(Side{Config: cfg})}}
}

// Apply removes CRDs by name and adds others, whose names must be distinct. A CRD that did not
// change stays compiled. The error reports CRDs that cannot be used.
func (l *Live) Apply(put []resource.Read, remove []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.c.CRDs
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(put))
	for i, r := range put {
		crds[i] = r.CRD.ForEngine()
	}
	err := d.catalog.Apply(crds, remove)
	var bad *catalog.Errors
	errors.As(err, &bad)
	for i, crd := range crds {
		e := d.catalog.Named(crd.Name)
		failed := bad != nil && slices.ContainsFunc(bad.Errors, func(e *catalog.Error) bool { return e.Index == i })
		if e != nil && d.byEntry[e] == nil && !failed {
			d.byEntry[e] = &Definition{CRD: (*resource.Compact)(e.CRD), entry: e, Location: put[i].Location}
		}
	}
	for e := range d.byEntry {
		if d.catalog.Named(e.Name) != e {
			delete(d.byEntry, e)
		}
	}
	return err
}

// Compile compiles a CRD. If the CRD equals the current CRD of that name, Compile returns its
// engine, which is compiled once. The errors are those of engine.Compile.
func (l *Live) Compile(of *resource.Compact) (*engine.Engine, error) {
	crd := of.ForEngine()
	l.mu.RLock()
	e := l.c.CRDs.catalog.Named(crd.Name)
	l.mu.RUnlock()
	if e != nil && (e.CRD == crd || reflect.DeepEqual(e.CRD.Spec, crd.Spec)) {
		return e.Engine()
	}
	return engine.Compile(crd, engine.Config{KubeVersion: l.c.KubeVersion})
}

// Definition returns the current CRD of a kind and its engine, or nil if the kind has no usable
// CRD.
func (l *Live) Definition(kind schema.GroupKind) (*apiextensionsv1.CustomResourceDefinition, *engine.Engine) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	def := l.c.CRDs.find(kind)
	if def == nil {
		return nil, nil
	}
	return def.CRD.ForEngine(), def.engine
}

// KubeVersion returns the Kubernetes version to emulate, or "" for the newest.
func (l *Live) KubeVersion() string { return l.c.KubeVersion }

// CRDs returns the current CRDs whose plural name and kind are wanted, sorted by name.
func (l *Live) CRDs(wanted func(plural, kind string) bool) (crds []*apiextensionsv1.CustomResourceDefinition) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	d := l.c.CRDs
	for _, name := range d.catalog.Names() {
		if e := d.catalog.Named(name); e != nil && wanted(e.CRD.Spec.Names.Plural, e.CRD.Spec.Names.Kind) {
			crds = append(crds, e.CRD)
		}
	}
	return crds
}

// Knows reports whether there is a CRD for a kind.
func (l *Live) Knows(kind schema.GroupKind) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.c.CRDs.catalog.Find(kind) != nil
}

// Decide returns the verdict on a document, or nil if the context is canceled.
func (l *Live) Decide(ctx context.Context, doc *input.Document) *finding.Object {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.c.Decide(ctx, doc)
}
