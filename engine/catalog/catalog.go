// Package catalog holds many CRDs and finds the engine of an object by its group,
// version and kind.
//
//	crds, err := catalog.ReadFS(os.DirFS("config/crd"))
//	c := catalog.New(catalog.Config{})
//	err = c.Apply(crds, nil)                  // at any time, from any goroutine
//	e := c.Engine(gvk)                        // nil: none serves it
//
// A Catalog is safe for concurrent use. Whoever asks never waits for a change: it
// sees the CRDs that were in force when it asked. A CRD that is replaced or
// removed is free to be collected with the last engine of it that is in use.
//
// Compiling does not ask whether an API server would take a CRD; package
// engine/vet does, and Config.Accept is where to ask it.
package catalog

// How it works: a Catalog is an atomic pointer to an immutable snapshot. A change
// makes the next one beside it, all CRDs compiled, and swaps (change.go). With
// Config.Lazy an entry compiles itself when it is first asked (entry.go).

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Config is how CRDs come into force. With the zero value they do if all of their
// rules compile.
type Config struct {
	// Engine compiles the CRDs.
	Engine engine.Config
	// Lazy compiles a CRD when its engine is first asked for, so that those
	// nobody asks for cost nothing. Then what does not compile is the entry's to
	// tell, and a CRD with some broken rules is in force as it is in a server.
	Lazy bool
	// Accept is asked before a CRD that is new or has changed comes into force;
	// what it returns keeps the CRD out. It is called from several goroutines.
	Accept func(*apiextensionsv1.CustomResourceDefinition) error
}

// Catalog is a changing set of CRDs. It must not be copied.
type Catalog struct {
	config  Config
	current atomic.Pointer[snapshot]
	// changing is held by changes only.
	changing sync.Mutex
}

// snapshot is the catalogue at one time; it is never changed.
type snapshot struct {
	byName map[string]*Entry
	byKind map[schema.GroupKind]*Entry
}

// New is an empty catalogue.
func New(cfg Config) *Catalog {
	c := &Catalog{config: cfg}
	c.current.Store(&snapshot{})
	return c
}

// Names are the names of the CRDs in force, sorted.
func (c *Catalog) Names() []string {
	return slices.Sorted(maps.Keys(c.current.Load().byName))
}

// Named is the CRD of a name; nil when there is none.
func (c *Catalog) Named(name string) *Entry { return c.current.Load().byName[name] }

// Find is the CRD of a kind, whatever versions it serves; nil when there is none.
func (c *Catalog) Find(kind schema.GroupKind) *Entry { return c.current.Load().byKind[kind] }

// Engine is what decides objects of a group, version and kind; nil when no CRD in
// force serves it.
func (c *Catalog) Engine(gvk schema.GroupVersionKind) *engine.Engine {
	if e := c.Find(gvk.GroupKind()); e != nil && e.Serves(gvk.Version) {
		compiled, _ := e.Engine()
		return compiled
	}
	return nil
}
