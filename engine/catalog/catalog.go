// Package catalog holds many CRDs and finds the engine for an object by group, version, and kind.
//
//	crds, err := catalog.ReadFS(os.DirFS("config/crd"))
//	c := catalog.New(catalog.Config{})
//	err = c.Apply(crds, nil)                  // at any time, from any goroutine
//	e := c.Engine(gvk)                        // nil if no CRD serves it
//
// A Catalog is safe for concurrent use. Lookups never wait for a change: they use the CRDs that are
// active when they start. A CRD that is replaced or removed can be garbage collected as soon as its
// engine is unused.
//
// Compiling does not check whether an API server would accept a CRD. Package engine/vet does; call
// it from Config.Accept.
package catalog

// How it works: a Catalog is an atomic pointer to an immutable snapshot. A change compiles new and
// changed CRDs, creates the next snapshot, and replaces the pointer (change.go). With Config.Lazy,
// an entry is compiled when its engine is first used (entry.go).

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Config determines how CRDs become active. With the zero value, a CRD becomes active if all of its
// rules compile.
type Config struct {
	// Engine is the configuration with which CRDs are compiled.
	Engine engine.Config
	// Lazy compiles a CRD when its engine is first used, so that unused CRDs cost nothing. Compile
	// errors are then returned by Entry.Engine, and a CRD with some invalid rules is active, as in
	// a server.
	Lazy bool
	// Accept is called before a new or changed CRD becomes active. If it returns an error, the CRD does not become
	// active. It may be called concurrently.
	Accept func(*apiextensionsv1.CustomResourceDefinition) error
}

// A Catalog is a set of CRDs that can change. It must not be copied.
type Catalog struct {
	config   Config
	current  atomic.Pointer[snapshot]
	changing sync.Mutex
}

type snapshot struct {
	byName map[string]*Entry
	byKind map[schema.GroupKind]*Entry
}

// New returns an empty Catalog.
func New(cfg Config) *Catalog {
	c := &Catalog{config: cfg}
	c.current.Store(&snapshot{})
	return c
}

// Names returns the sorted names of the active CRDs.
func (c *Catalog) Names() []string {
	return slices.Sorted(maps.Keys(c.current.Load().byName))
}

// Named returns the CRD of the given name, or nil if it is not in the catalog.
func (c *Catalog) Named(name string) *Entry { return c.current.Load().byName[name] }

// Find returns the CRD of a kind regardless of the versions that it serves, or nil if the catalog
// does not contain it.
func (c *Catalog) Find(kind schema.GroupKind) *Entry { return c.current.Load().byKind[kind] }

// Engine returns the engine for a group, version, and kind. It returns nil if no active CRD serves
// it, or if a lazy catalog cannot compile the CRD.
func (c *Catalog) Engine(gvk schema.GroupVersionKind) *engine.Engine {
	if e := c.Find(gvk.GroupKind()); e != nil && e.Serves(gvk.Version) {
		compiled, _ := e.Engine()
		return compiled
	}
	return nil
}
