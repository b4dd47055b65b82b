package admission

import (
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/policy"
)

// Config configures a Set. The zero value decides as the API server would if it had the set's CRDs,
// and allows objects that have no CRD.
type Config struct {
	// Engine is the configuration with which CRDs are compiled.
	Engine engine.Config
	// Accept is called before a new or changed CRD becomes active. If it returns an error, the CRD does not become
	// active. Compiling does not check whether an API server would accept a CRD, but package engine/vet does. Accept
	// may be called concurrently.
	Accept func(*apiextensionsv1.CustomResourceDefinition) error
	// Mode determines the effect of a rejection.
	Mode Mode
	// Unknown determines the response to requests with the verdict NotChecked.
	Unknown Unknown
}

// A Mode determines the effect of a rejection.
type Mode uint8

const (
	// Enforce rejects the request.
	Enforce Mode = iota
	// Warn allows the request, with warnings about the causes.
	Warn
	// Audit allows the request, and records the causes in audit annotations only.
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

// Unknown determines the response to requests with the verdict NotChecked.
type Unknown uint8

const (
	// AllowUnknown allows them, with a warning unless the mode is Audit.
	AllowUnknown Unknown = iota
	// RejectUnknown rejects them in the mode Enforce. In the other modes, it is like AllowUnknown.
	RejectUnknown
)

func (u Unknown) String() string {
	if u == RejectUnknown {
		return "refuse"
	}
	return "allow"
}

// A Set is a set of compiled CRDs that can change. It is safe for concurrent use and must not be
// copied.
type Set struct {
	config   Config
	catalog  *catalog.Catalog
	policies atomic.Pointer[policy.Set]
}

type (
	// An UpdateError is the reason why a CRD of a change did not become active.
	UpdateError = catalog.Error
	// UpdateErrors holds the errors of the CRDs of a change that did not become active.
	UpdateErrors = catalog.Errors
)

// NewSet returns an empty Set.
func NewSet(cfg Config) *Set {
	return &Set{config: cfg, catalog: catalog.New(catalog.Config{Engine: cfg.Engine, Accept: cfg.Accept})}
}

// Names returns the sorted names of the active CRDs.
func (s *Set) Names() []string { return s.catalog.Names() }

// Engine returns the engine for a group, version, and kind, or nil if no CRD of the set serves it.
func (s *Set) Engine(gvk schema.GroupVersionKind) *engine.Engine { return s.catalog.Engine(gvk) }

// Put adds a CRD, or replaces the CRD of the same name. If the CRD cannot become active, for example because a rule
// does not compile, the set is unchanged and the error is *UpdateErrors.
func (s *Set) Put(crd *apiextensionsv1.CustomResourceDefinition) error { return s.catalog.Put(crd) }

// Remove removes a CRD and reports whether it was active.
func (s *Set) Remove(name string) bool { return s.catalog.Remove(name) }

// Apply removes CRDs by name and adds or replaces others in an atomic change. CRDs that cannot be
// added are reported in *UpdateErrors and do not affect the others. A CRD whose spec has not
// changed is not compiled again. The CRDs may be modified afterwards.
func (s *Set) Apply(put []*apiextensionsv1.CustomResourceDefinition, remove []string) error {
	return s.catalog.Apply(put, remove)
}

type crd struct {
	*catalog.Entry
	engine *engine.Engine
}

func (s *Set) lookup(gvk schema.GroupVersionKind) *crd {
	e := s.catalog.Find(gvk.GroupKind())
	if e == nil || !e.Serves(gvk.Version) {
		return nil
	}
	compiled, err := e.Engine()
	if err != nil {
		return nil // unreachable: such a CRD does not become active
	}
	return &crd{e, compiled}
}
