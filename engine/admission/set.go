package admission

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Config is how a Set answers. The zero value answers as the API server would
// if it had the set's CRDs, and allows what it has no CRD for.
type Config struct {
	// Engine compiles the CRDs.
	Engine engine.Config
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
	current atomic.Pointer[snapshot]
	// changing is held by changes only; requests do not wait for it.
	changing sync.Mutex
}

// snapshot is the set at one time; it is never changed.
type snapshot struct {
	byName map[string]*definition
	byKind map[schema.GroupKind]*definition
}

// definition is one compiled CRD.
type definition struct {
	name     string
	kind     schema.GroupKind
	engine   *engine.Engine
	versions map[string]version
	// digest tells whether the CRD's spec is the same as another.
	digest [32]byte
}

// version is what a request must know of a CRD version.
type version struct {
	served bool
	// status is true when the version has the status subresource.
	status bool
}

// NewSet is an empty set.
func NewSet(cfg Config) *Set {
	s := &Set{config: cfg}
	s.current.Store(&snapshot{})
	return s
}

// Names are the names of the CRDs in force, sorted.
func (s *Set) Names() []string {
	return slices.Sorted(maps.Keys(s.current.Load().byName))
}

// Engine is what decides objects of a group, version and kind; nil when no CRD
// of the set serves it.
func (s *Set) Engine(gvk schema.GroupVersionKind) *engine.Engine {
	if d := s.current.Load().lookup(gvk); d != nil {
		return d.engine
	}
	return nil
}

func (s *snapshot) lookup(gvk schema.GroupVersionKind) *definition {
	d := s.byKind[gvk.GroupKind()]
	if d == nil || !d.versions[gvk.Version].served {
		return nil
	}
	return d
}
