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

// An Error is the reason why a CRD of a change did not become active. An earlier CRD of the same
// name remains active, unless the change removes it or gives its kind to another CRD.
type Error struct {
	// Name is the name of the CRD.
	Name string
	// Err is a *engine.CompileErrors if rules do not compile.
	Err error
	// Index is the index of the CRD in the change, or -1 if the change does not contain it.
	Index int
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errors holds the errors of the CRDs of a change that did not become active.
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

// Unwrap returns the individual errors, for errors.Is and errors.As.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// ErrTwice is the error for a CRD that has the same name as an earlier CRD of the same change.
var ErrTwice = errors.New("a duplicate: keep one of them")

// Put adds a CRD, or replaces the CRD of the same name. If the CRD is not accepted, the catalog is
// unchanged and the error is *Errors. Unless the catalog is lazy, a CRD with a rule that does not
// compile is not accepted.
func (c *Catalog) Put(crd *apiextensionsv1.CustomResourceDefinition) error {
	return c.Apply([]*apiextensionsv1.CustomResourceDefinition{crd}, nil)
}

// Remove removes a CRD and reports whether it was active.
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

// Apply removes CRDs by name and adds or replaces others in an atomic change. CRDs that cannot be
// added are reported in *Errors, in the order of put, followed by CRDs whose kind belongs to
// another CRD, sorted by name. They do not affect the others. If several CRDs have the same name,
// they are all rejected, because it is not clear which of them is meant. Unless the catalog is
// lazy, a CRD whose spec has not changed is not compiled again, and the CRDs may be modified
// afterwards.
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

// conflicts removes CRDs from next whose kind belongs to another CRD, and restores their active form if its kind is
// still free. A CRD that already has the kind keeps it.
func (e *Errors) conflicts(next, known map[string]*Entry, index map[string]int) {
	owner := map[schema.GroupKind]string{}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if d := next[name]; known[name] != nil && known[name].Kind == d.Kind {
			owner[d.Kind] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
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
		// Another CRD of this change may have taken the old kind of this CRD.
		if old := known[name]; old != nil && owner[old.Kind] == "" {
			next[name], owner[old.Kind] = old, name
		}
	}
}

func (c *Catalog) swap(byName map[string]*Entry) {
	next := &snapshot{byName: byName, byKind: make(map[schema.GroupKind]*Entry, len(byName))}
	for _, e := range byName {
		next.byKind[e.Kind] = e
	}
	c.current.Store(next)
}

type defineResult struct {
	entry *Entry
	err   error
}

// defineAll omits CRDs that are nil or given twice.
func (c *Catalog) defineAll(crds []*apiextensionsv1.CustomResourceDefinition, known map[string]*Entry, twice map[string]bool) []defineResult {
	all := make([]defineResult, len(crds))
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

// define may return known, the active entry of the same name, which can be nil.
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
