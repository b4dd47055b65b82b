package verdict

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Olds holds the old objects of updates.
type Olds struct {
	// WithoutCRD is set if objects without a CRD are kept as well.
	WithoutCRD bool
	// Server, if not nil, decides built-in kinds, so their objects are kept as well.
	Server policyrequest.Server

	byKey map[string]*oldObject
	// byFile holds the objects of --base by file and key, because a repository may have an object in
	// several files. They are in byKey as well.
	byFile map[[2]string]*oldObject
	errs   []error // objects that could not be read
	// given is the number of objects in --old, including those without a CRD and those of other shards.
	given int
}

// An oldObject holds its JSON if it was read from JSON, because that takes a tenth of the memory of
// decoded values.
type oldObject struct {
	object map[string]any // nil if json is set
	json   []byte
	paired atomic.Bool
}

// NewOlds returns an empty Olds.
func NewOlds() *Olds {
	return &Olds{byKey: map[string]*oldObject{}, byFile: map[[2]string]*oldObject{}}
}

func newOldObject(r Old) *oldObject {
	if r.json != nil {
		return &oldObject{json: bytes.Clone(r.json)}
	}
	return &oldObject{object: r.object}
}

// value returns the decoded object.
func (o *oldObject) value() map[string]any {
	if o.object != nil {
		return o.object
	}
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.json, &obj); err != nil {
		panic(err) // it was decoded before
	}
	return obj
}

// find returns the old version of an object.
func (o *Olds) find(crds *CRDs, file string, id input.Identity) (map[string]any, bool) {
	if len(o.byKey) == 0 {
		return nil, false
	}
	key := crds.key(id)
	old := o.byFile[[2]string{file, key}]
	if old == nil {
		old = o.byKey[key]
	}
	if old == nil {
		return nil, false
	}
	old.paired.Store(true)
	return old.value(), true
}

// Vanished returns the number of old objects without a new version.
func (o *Olds) Vanished() int {
	n := 0
	for _, old := range o.byKey {
		if !old.paired.Load() {
			n++
		}
	}
	return n
}

// Given returns the number of objects in --old, including those without a CRD. For an unreadable document, it
// counts an object.
func (o *Olds) Given() int { return o.given }

// Paired returns the number of old objects with a new version.
func (o *Olds) Paired() int { return len(o.byKey) - o.Vanished() }

// key returns the key that pairs an object with its old version. If the kind is namespaced, a
// missing namespace is "default".
func (c *CRDs) key(id input.Identity) string {
	namespace := ""
	if c.namespaced(id.GroupKind()) {
		if namespace = id.Namespace; namespace == "" {
			namespace = "default"
		}
	}
	return input.Called(id.GroupKind(), namespace, id.Name)
}

// Key returns the key of an object in shards and baselines, or "" if id has no apiVersion or kind.
func (c *CRDs) Key(id input.Identity) string {
	if id.APIVersion == "" || id.Kind == "" {
		return ""
	}
	return c.key(id)
}

// Take adds an object of --old. It keeps an error for Decider.Problems.
func (o *Olds) Take(r Old, crds *CRDs, owns func(key string) bool) {
	if r.Err != nil || r.id.Kind != "" {
		o.given++
	}
	if err := o.add(r, crds, owns); err != nil {
		o.errs = append(o.errs, fmt.Errorf("--old: %s: %w", r.Location, err))
	}
}

func (o *Olds) add(r Old, crds *CRDs, owns func(key string) bool) error {
	if owns != nil && !owns(crds.Key(r.id)) {
		return nil
	}
	if r.Err != nil || !o.keeps(r, crds) {
		return r.Err
	}
	key := crds.key(r.id)
	if o.byKey[key] != nil {
		return fmt.Errorf("%s: duplicate: keep one of them", key)
	}
	o.byKey[key] = newOldObject(r)
	return nil
}

// keeps reports whether an old object can be used.
func (o *Olds) keeps(r Old, crds *CRDs) bool {
	if crds.Knows(r.id.GroupKind()) || o.WithoutCRD && r.id.Kind != "" {
		return true
	}
	if o.Server == nil {
		return false
	}
	_, ok := o.Server.Resource(schema.FromAPIVersionAndKind(r.id.APIVersion, r.id.Kind))
	return ok
}

// TakeBase adds an object of --base. It returns errors instead of keeping them, because an
// unreadable file in the base revision is not a problem of the current files.
func (o *Olds) TakeBase(r Old, crds *CRDs, owns func(key string) bool) error {
	if !owns(crds.Key(r.id)) {
		return nil
	}
	if r.Err != nil {
		return r.Err
	}
	if !o.keeps(r, crds) {
		return nil
	}
	key := crds.key(r.id)
	old := newOldObject(r)
	o.byFile[[2]string{r.file, key}] = old
	if o.byKey[key] == nil {
		o.byKey[key] = old
	}
	return nil
}

// An Old is an old object as it was read.
type Old struct {
	// Location is the object's location for messages. Err is the reason why it cannot be read.
	Location string
	Err      error

	file   string
	object map[string]any
	id     input.Identity
	json   []byte
}

// ReadOld reads a document as an old object.
func ReadOld(doc *input.Document) Old {
	return Old{
		Location: doc.Location(), Err: doc.Err,
		file: doc.File, object: doc.Object, id: doc.Identity(), json: doc.FromJSON(),
	}
}
