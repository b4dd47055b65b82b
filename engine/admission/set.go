package admission

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// Config is how a Set answers. The zero value answers as the API server would
// if it had the set's CRDs, and allows what it has no CRD for.
type Config struct {
	// Engine compiles the CRDs.
	Engine engine.Config
	// Accept is asked before a CRD that is new or has changed comes into force;
	// what it returns keeps the CRD out. Compiling does not ask whether an API
	// server would take a CRD: engine/vet does. It is called from several
	// goroutines.
	Accept func(*apiextensionsv1.CustomResourceDefinition) error
	// Mode is what a refusal does.
	Mode Mode
	// Unknown is what happens to objects that no CRD of the set decides.
	Unknown Unknown
}

// Mode is what a refusal does.
type Mode uint8

const (
	// Enforce refuses.
	Enforce Mode = iota
	// Warn allows, with a warning for each cause.
	Warn
	// Audit allows, and says so only in the audit annotations.
	Audit
)

func (m Mode) String() string {
	switch m {
	case Warn:
		return "warn"
	case Audit:
		return "audit"
	}
	return "enforce"
}

// Unknown is what happens to objects that no CRD of the set decides.
type Unknown uint8

const (
	// AllowUnknown allows them with a warning.
	AllowUnknown Unknown = iota
	// RefuseUnknown refuses them.
	RefuseUnknown
)

func (u Unknown) String() string {
	if u == RefuseUnknown {
		return "refuse"
	}
	return "allow"
}

// Set is a changing set of compiled CRDs. It is safe for concurrent use, and
// must not be copied.
type Set struct {
	config  Config
	catalog *catalog.Catalog
}

type (
	// UpdateError says why one CRD of a change is not in force. The one of that
	// name that was in force before still is.
	UpdateError = catalog.Error
	// UpdateErrors are all CRDs of a change that are not in force.
	UpdateErrors = catalog.Errors
)

// NewSet is an empty set.
func NewSet(cfg Config) *Set {
	return &Set{cfg, catalog.New(catalog.Config{Engine: cfg.Engine, Accept: cfg.Accept})}
}

// Names are the names of the CRDs in force, sorted.
func (s *Set) Names() []string { return s.catalog.Names() }

// Engine is what decides objects of a group, version and kind; nil when no CRD
// of the set serves it.
func (s *Set) Engine(gvk schema.GroupVersionKind) *engine.Engine { return s.catalog.Engine(gvk) }

// Put adds a CRD, or replaces the one of its name. A CRD that does not compile,
// and be it for one rule, changes nothing; the error is then *UpdateErrors.
func (s *Set) Put(crd *apiextensionsv1.CustomResourceDefinition) error { return s.catalog.Put(crd) }

// Remove takes a CRD out of force and says whether it was in.
func (s *Set) Remove(name string) bool { return s.catalog.Remove(name) }

// Apply removes CRDs by name and puts others, as one change: no request sees a
// part of it. What cannot be put is in the *UpdateErrors and does not hold up the
// rest. A CRD whose spec is the one in force is not compiled again. The CRDs may
// change afterwards.
func (s *Set) Apply(put []*apiextensionsv1.CustomResourceDefinition, remove []string) error {
	return s.catalog.Apply(put, remove)
}

// crd is a CRD in force, with its engine.
type crd struct {
	*catalog.Entry
	engine *engine.Engine
}

// lookup is nil when no CRD of the set serves a kind.
func (s *Set) lookup(gvk schema.GroupVersionKind) *crd {
	e := s.catalog.Find(gvk.GroupKind())
	if e == nil || !e.Serves(gvk.Version) {
		return nil
	}
	compiled, err := e.Engine()
	if err != nil {
		return nil // never: it would not be in force
	}
	return &crd{e, compiled}
}
