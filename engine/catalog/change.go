package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Error says why one CRD of a change is not in force. The one of that name that
// was in force before still is.
type Error struct {
	// Name is the CRD's name.
	Name string
	// Err is a *engine.CompileErrors when rules do not compile.
	Err error
	// Index is the CRD's place in the change, from 0; -1 when it is not in it.
	Index int
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errors are all CRDs of a change that are not in force.
type Errors struct {
	Errors []*Error
}

func (e *Errors) Error() string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap gives errors.As and errors.Is the single errors.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// ErrTwice is of a CRD whose name another of the same change has.
var ErrTwice = errors.New("given twice: keep one")

// Put adds a CRD, or replaces the one of its name. A CRD that does not compile,
// and be it for one rule, changes nothing; the error is then *Errors.
func (c *Catalog) Put(crd *apiextensionsv1.CustomResourceDefinition) error {
	return c.Apply([]*apiextensionsv1.CustomResourceDefinition{crd}, nil)
}

// Remove takes a CRD out of force and says whether it was in.
func (c *Catalog) Remove(name string) bool {
	c.changing.Lock()
	defer c.changing.Unlock()
	known := c.current.Load().byName
	if _, ok := known[name]; !ok {
		return false
	}
	next := maps.Clone(known)
	delete(next, name)
	c.swap(next)
	return true
}

// Apply removes CRDs by name and puts others, as one change: nobody sees a part
// of it. What cannot be put is in the *Errors, in the order of put, and does not
// hold up the rest; of CRDs that have one name none is put, for nobody knows which
// is meant. A CRD whose spec is the one in force is not compiled again. The CRDs
// may change afterwards, unless the catalogue is lazy.
func (c *Catalog) Apply(put []*apiextensionsv1.CustomResourceDefinition, remove []string) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	known := c.current.Load().byName
	next := maps.Clone(known)
	if next == nil {
		next = map[string]*Entry{}
	}
	for _, name := range remove {
		delete(next, name)
	}
	failed := &Errors{}
	first, index, twice := map[string]int{}, map[string]int{}, map[string]bool{}
	for i, crd := range put {
		if crd == nil {
			continue
		}
		index[crd.Name] = i
		if at, seen := first[crd.Name]; seen && at != i {
			twice[crd.Name] = true
		} else {
			first[crd.Name] = i
		}
	}
	compiled := c.defineAll(put, known, twice)
	for i, crd := range put {
		switch {
		case crd == nil:
			failed.add("", i, errors.New("no CRD given"))
		case twice[crd.Name] && first[crd.Name] == i:
		case twice[crd.Name]:
			failed.add(crd.Name, i, ErrTwice)
		case compiled[i].err != nil:
			failed.add(crd.Name, i, compiled[i].err)
		default:
			next[crd.Name] = compiled[i].entry
		}
	}
	failed.conflicts(next, known, index)
	c.swap(next)
	if len(failed.Errors) > 0 {
		return failed
	}
	return nil
}

func (e *Errors) add(name string, index int, err error) {
	e.Errors = append(e.Errors, &Error{name, err, index})
}

// conflicts puts back what was known of CRDs that claim the kind of another:
// who has it keeps it.
func (e *Errors) conflicts(next, known map[string]*Entry, index map[string]int) {
	owner := map[schema.GroupKind]string{}
	for _, name := range sortedNames(next) {
		if d := next[name]; known[name] != nil && known[name].Kind == d.Kind {
			owner[d.Kind] = name
		}
	}
	for _, name := range sortedNames(next) {
		kind := next[name].Kind
		other, taken := owner[kind]
		if !taken {
			owner[kind] = name
			continue
		}
		if other == name {
			continue
		}
		at, given := index[name]
		if !given {
			at = -1
		}
		e.add(name, at, fmt.Errorf("kind %s is already that of CRD %s", kind, other))
		delete(next, name)
		// Its old kind may have gone to another CRD of this change.
		if old := known[name]; old != nil && owner[old.Kind] == "" {
			next[name], owner[old.Kind] = old, name
		}
	}
}

// swap puts a change in force.
func (c *Catalog) swap(byName map[string]*Entry) {
	next := &snapshot{byName: byName, byKind: make(map[schema.GroupKind]*Entry, len(byName))}
	for _, e := range byName {
		next.byKind[e.Kind] = e
	}
	c.current.Store(next)
}

// defined is what define gives.
type defined struct {
	entry *Entry
	err   error
}

// defineAll makes entries of CRDs, on all cores, and passes over those that are
// nil or given twice.
func (c *Catalog) defineAll(crds []*apiextensionsv1.CustomResourceDefinition, known map[string]*Entry, twice map[string]bool) []defined {
	all := make([]defined, len(crds))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(crds), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(crds)); i = next.Add(1) - 1 {
				if crd := crds[i]; crd != nil && !twice[crd.Name] {
					all[i].entry, all[i].err = c.define(crd, known[crd.Name])
				}
			}
		})
	}
	workers.Wait()
	return all
}

// define makes an entry; known is the one of its name in force, or nil.
func (c *Catalog) define(crd *apiextensionsv1.CustomResourceDefinition, known *Entry) (*Entry, error) {
	if c.config.Lazy && known == nil {
		return c.accepted(crd)
	}
	spec, err := json.Marshal(&crd.Spec)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(spec)
	if known != nil && known.digest == digest {
		return known, nil
	}
	e, err := c.accepted(crd)
	if err != nil {
		return nil, err
	}
	e.digest = digest
	if !c.config.Lazy {
		e.CRD = crd.DeepCopy()
		if _, err := e.Engine(); err != nil {
			return nil, err
		}
		e.CRD = nil
	}
	return e, nil
}

// accepted is an entry that is not compiled yet.
func (c *Catalog) accepted(crd *apiextensionsv1.CustomResourceDefinition) (*Entry, error) {
	if crd.Name == "" {
		return nil, errors.New("metadata.name: Required value")
	}
	if c.config.Accept != nil {
		if err := c.config.Accept(crd); err != nil {
			return nil, err
		}
	}
	return newEntry(crd, c.config.Engine), nil
}

func sortedNames(byName map[string]*Entry) []string {
	return slices.Sorted(maps.Keys(byName))
}
