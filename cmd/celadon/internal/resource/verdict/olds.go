package verdict

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// Olds holds the old objects of updates.
type Olds struct {
	// WithoutCRD is set if objects without a CRD are kept as well.
	WithoutCRD bool
	// Server, if not nil, validates objects of built-in kinds, so they are kept as well.
	Server policyrequest.Server

	// Has reports whether a file has an object of the key now. It is needed for --base.
	Has func(file, key string) bool

	byKey map[string]*oldObject // the last of each key
	errs  []error
	// given is the number of objects in --old, including objects without a CRD and objects of other shards.
	given int
}

// An oldObject holds its JSON if it was read from JSON, because that takes a tenth of the memory of decoded values.
type oldObject struct {
	object map[string]any // nil if json is set
	json   []byte
	file   string     // of --base, or ""
	next   *oldObject // of the same key in another file of --base
	paired atomic.Bool
}

// NewOlds returns an empty Olds.
func NewOlds() *Olds {
	return &Olds{byKey: map[string]*oldObject{}}
}

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

// find returns the old version of an object, or nil. For --base, the old version is in the same file. Otherwise, the
// object has moved if exactly one file, of the same folder or else of all, had it and does not have it anymore. The
// same object in another file, for example of another overlay, is a different object.
func (o *Olds) find(crds *CRDs, file string, id input.Identity) *oldObject {
	if len(o.byKey) == 0 {
		return nil
	}
	key := crds.key(id)
	var gone, near []*oldObject
	for old := o.byKey[key]; old != nil; old = old.next {
		if old.file == "" || old.file == file {
			near = []*oldObject{old}
			break
		}
		if o.Has(old.file, key) {
			continue
		}
		gone = append(gone, old)
		if filepath.Dir(old.file) == filepath.Dir(file) {
			near = append(near, old)
		}
	}
	if len(near) > 0 {
		gone = near
	}
	if len(gone) != 1 {
		return nil
	}
	gone[0].paired.Store(true)
	return gone[0]
}

// Count counts the old objects: given in --old, matched with a new version, and vanished. An unreadable document of
// --old counts as given.
func (o *Olds) Count() (sum finding.OldSummary, vanished int) {
	sum.Given = o.given
	for _, old := range o.byKey {
		for ; old != nil; old = old.next {
			if old.paired.Load() {
				sum.Matched++
			} else {
				vanished++
			}
		}
	}
	return sum, vanished
}

// key returns the key that pairs an object with its old version. If the kind is namespaced, a
// missing namespace is "default".
func (c *CRDs) key(id input.Identity) string {
	namespace := ""
	if c.namespaced(id.GroupKind()) {
		namespace = cmp.Or(id.Namespace, "default")
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
	if err := o.add(r, crds, owns, false); err != nil {
		o.errs = append(o.errs, fmt.Errorf("--old: %s: %w", r.Location, err))
	}
}

// TakeBase adds an object of --base. It returns errors instead of keeping them, because an
// unreadable file in the base revision is not a problem of the current files.
func (o *Olds) TakeBase(r Old, crds *CRDs, owns func(key string) bool) error {
	return o.add(r, crds, owns, true)
}

// Only objects of the base revision may share a key.
func (o *Olds) add(r Old, crds *CRDs, owns func(key string) bool, isBase bool) error {
	if owns != nil && !owns(crds.Key(r.id)) {
		return nil
	}
	if r.Err != nil || !o.keeps(r, crds) {
		return r.Err
	}
	key, old := crds.key(r.id), r.oldObject
	if old.next = o.byKey[key]; !isBase {
		if old.file = ""; old.next != nil {
			return fmt.Errorf("%s: duplicate: keep one of them", key)
		}
	}
	if old.json != nil {
		old.json, old.object = bytes.Clone(old.json), nil
	}
	o.byKey[key] = old
	return nil
}

func (o *Olds) keeps(r Old, crds *CRDs) bool {
	if crds.Knows(r.id.GroupKind()) || o.WithoutCRD && r.id.Kind != "" {
		return true
	}
	if o.Server == nil || isCRD(r.id) {
		return false
	}
	_, ok := o.Server.Resource(schema.FromAPIVersionAndKind(r.id.APIVersion, r.id.Kind))
	return ok
}

// An Old is an old object as it was read.
type Old struct {
	// Location is the object's location for messages. Err is the reason why it cannot be read.
	Location string
	Err      error

	id input.Identity
	*oldObject
}

// ReadOld reads a document as an old object.
func ReadOld(doc *input.Document) Old {
	return Old{doc.Location(), doc.Err, doc.Identity(), &oldObject{object: doc.Object, json: doc.FromJSON(), file: doc.File}}
}

// A Single describes how One writes an object.
type Single struct {
	// Engine validates custom resources. It is nil for an object of a built-in kind, which Server validates.
	Engine      *engine.Engine
	Server      policyrequest.Server
	Subresource string
	// Apply is the kind of write. Writer makes it for custom resources.
	Apply  apply.Write
	Writer *apply.Writer
}

// One checks an object and returns the text report. The write is an update if old is not nil. A write to a
// subresource needs old. The report hides only the data of Secrets, because the user has the object open.
func One(ctx context.Context, w Single, doc *input.Document, old map[string]any) (string, error) {
	crds, olds := newCRDs(engine.Config{}, &resource.Filter{}), NewOlds()
	if old != nil {
		olds.byKey[crds.key(doc.Identity())] = &oldObject{object: old}
	}
	decider := New(Config{
		Validation: "Strict", Subresource: w.Subresource, Apply: w.Apply, Olds: olds, Server: w.Server, Locate: true, Explain: true,
	}, crds)
	d := &decision{Decider: decider, doc: doc, report: newReport(doc)}
	r := d.report
	r.Identity, r.Operation, r.Subresource = doc.Identity(), Create, w.Subresource
	if old != nil {
		r.Operation = Update
	}
	var out outcome
	if w.Engine == nil {
		kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
		var err error
		if d.builtin, err = d.builtins.Kind(kind, engine.Config{}); err != nil || d.builtin == nil {
			return "", cmp.Or(err, fmt.Errorf("no built-in kind %s", kind))
		}
		out = d.decideBuiltin(ctx)
	} else {
		d.def = &Definition{engine: w.Engine, writer: w.Writer, explainer: trace.NewExplainer(w.Engine)}
		if node, err := w.Engine.At("", ""); err == nil {
			d.KubeVersion = node.Config.KubeVersion
		}
		r.Apply = string(w.Apply.Kind)
		out = d.applied(ctx, engine.Request{
			Object: doc.Object, OldObject: old, FieldValidation: d.Validation, DuplicateKeys: doc.Duplicate,
			Subresource: w.Subresource,
		}, w.Apply)
	}
	if d.describe(ctx, &out); r.Bug != nil {
		return "", r.Bug
	}
	var b bytes.Buffer
	p, err := print.New("text", &b, print.Options{StrictKinds: true})
	if err != nil {
		return "", err
	}
	var s finding.Summary
	s.Count(r)
	err = errors.Join(p.Object(r), p.End(&s))
	return b.String(), err
}
