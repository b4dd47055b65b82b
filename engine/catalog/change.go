package admission

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

	"github.com/celadon-cel/celadon/engine"
)

// UpdateError says why one CRD of a change is not in force. The one of that
// name that was in force before still is.
type UpdateError struct {
	// Name is the CRD's name.
	Name string
	// Err is a *engine.CompileErrors when rules do not compile.
	Err error
}

func (e *UpdateError) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *UpdateError) Unwrap() error { return e.Err }

// UpdateErrors are all CRDs of a change that are not in force.
type UpdateErrors struct {
	Errors []*UpdateError
}

func (e *UpdateErrors) Error() string {
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap gives errors.As and errors.Is the single errors.
func (e *UpdateErrors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// Put adds a CRD, or replaces the one of its name. A CRD that does not compile,
// and be it for one rule, changes nothing; the error is then *UpdateErrors.
func (s *Set) Put(crd *apiextensionsv1.CustomResourceDefinition) error {
	return s.Apply([]*apiextensionsv1.CustomResourceDefinition{crd}, nil)
}

// Remove takes a CRD out of force and says whether it was in.
func (s *Set) Remove(name string) bool {
	s.changing.Lock()
	defer s.changing.Unlock()
	known := s.current.Load().byName
	if _, ok := known[name]; !ok {
		return false
	}
	next := maps.Clone(known)
	delete(next, name)
	s.swap(next)
	return true
}

// Apply removes CRDs by name and puts others, as one change: no request sees a
// part of it. What cannot be put is in the *UpdateErrors and does not hold up
// the rest. A CRD whose spec is the one in force is not compiled again. The
// CRDs may change afterwards.
func (s *Set) Apply(put []*apiextensionsv1.CustomResourceDefinition, remove []string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	known := s.current.Load().byName
	next := maps.Clone(known)
	if next == nil {
		next = map[string]*definition{}
	}
	for _, name := range remove {
		delete(next, name)
	}
	failed := &UpdateErrors{}
	seen := map[string]bool{}
	compiled := s.defineAll(put, known)
	for i, crd := range put {
		if crd == nil {
			failed.add("", errors.New("no CRD given"))
			continue
		}
		if seen[crd.Name] {
			failed.add(crd.Name, errors.New("given twice: keep one"))
			continue
		}
		seen[crd.Name] = true
		if err := compiled[i].err; err != nil {
			failed.add(crd.Name, err)
			continue
		}
		next[crd.Name] = compiled[i].definition
	}
	failed.conflicts(next, known)
	s.swap(next)
	if len(failed.Errors) > 0 {
		return failed
	}
	return nil
}

func (e *UpdateErrors) add(name string, err error) {
	e.Errors = append(e.Errors, &UpdateError{name, err})
}

// conflicts puts back what was known of CRDs that claim the kind of another:
// who has it keeps it.
func (e *UpdateErrors) conflicts(next, known map[string]*definition) {
	owner := map[schema.GroupKind]string{}
	for _, name := range sortedNames(next) {
		if d := next[name]; known[name] != nil && known[name].kind == d.kind {
			owner[d.kind] = name
		}
	}
	for _, name := range sortedNames(next) {
		kind := next[name].kind
		other, taken := owner[kind]
		if !taken {
			owner[kind] = name
			continue
		}
		if other == name {
			continue
		}
		e.add(name, fmt.Errorf("kind %s is already that of CRD %s", kind, other))
		delete(next, name)
		// Its old kind may have gone to another CRD of this change.
		if old := known[name]; old != nil && owner[old.kind] == "" {
			next[name], owner[old.kind] = old, name
		}
	}
}

// swap puts a change in force.
func (s *Set) swap(byName map[string]*definition) {
	next := &snapshot{byName: byName, byKind: make(map[schema.GroupKind]*definition, len(byName))}
	for _, d := range byName {
		next.byKind[d.kind] = d
	}
	s.current.Store(next)
}

// defined is what define gives.
type defined struct {
	definition *definition
	err        error
}

// defineAll compiles CRDs on all cores, and passes over those that are nil.
func (s *Set) defineAll(crds []*apiextensionsv1.CustomResourceDefinition, known map[string]*definition) []defined {
	all := make([]defined, len(crds))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(crds), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(crds)); i = next.Add(1) - 1 {
				if crd := crds[i]; crd != nil {
					all[i].definition, all[i].err = s.define(crd, known[crd.Name])
				}
			}
		})
	}
	workers.Wait()
	return all
}

// define compiles a CRD; known is the one of its name in force, or nil.
func (s *Set) define(crd *apiextensionsv1.CustomResourceDefinition, known *definition) (*definition, error) {
	spec, err := json.Marshal(&crd.Spec)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(spec)
	if known != nil && known.digest == digest {
		return known, nil
	}
	if crd.Name == "" {
		return nil, errors.New("metadata.name: Required value")
	}
	e, err := engine.Compile(crd.DeepCopy(), s.config.Engine)
	if err != nil {
		return nil, err
	}
	d := &definition{name: crd.Name, kind: e.GroupKind(), engine: e, versions: map[string]version{}, digest: digest}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		d.versions[v.Name] = version{
			served: v.Served,
			status: v.Subresources != nil && v.Subresources.Status != nil,
		}
	}
	return d, nil
}

func sortedNames(byName map[string]*definition) []string {
	return slices.Sorted(maps.Keys(byName))
}
