package check

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
)

// oldObjects are what updates replace.
type oldObjects struct {
	byKey map[string]*oldObject
	// byFile are those of --base once more, by their file too: a repository may
	// have an object in several files.
	byFile map[[2]string]*oldObject
	// problems are what could not be read.
	problems []error
}

// oldObject is held as its JSON where it was written so, which is a tenth of what its
// values take.
type oldObject struct {
	object map[string]any // nil where there is JSON
	json   []byte
	paired atomic.Bool
}

func newOldObject(r oldRead) *oldObject {
	if r.json != nil {
		return &oldObject{json: bytes.Clone(r.json)}
	}
	return &oldObject{object: r.object}
}

// value is the object.
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

// find is the old self of an object.
func (o *oldObjects) find(crds *definitions, doc *input.Document) (map[string]any, bool) {
	if len(o.byKey) == 0 {
		return nil, false
	}
	key := crds.key(doc.Object)
	old := o.byFile[[2]string{doc.File, key}]
	if old == nil {
		old = o.byKey[key]
	}
	if old == nil {
		return nil, false
	}
	old.paired.Store(true)
	return old.value(), true
}

// vanished counts the old objects that no new one replaces.
func (o *oldObjects) vanished() int {
	n := 0
	for _, old := range o.byKey {
		if !old.paired.Load() {
			n++
		}
	}
	return n
}

// knows is true for an object of a kind that has a CRD.
func (d *definitions) knows(obj map[string]any) bool {
	return d.catalog.Find(finding.Identify(obj).GroupKind()) != nil
}

// key pairs an object with its old self. A missing namespace is "default"
// where the kind has namespaces.
func (d *definitions) key(obj map[string]any) string {
	id := finding.Identify(obj)
	namespace := ""
	if d.namespaced(id.GroupKind()) {
		if namespace = id.Namespace; namespace == "" {
			namespace = "default"
		}
	}
	return finding.Called(id.GroupKind(), namespace, id.Name)
}

// readOld reads the old objects of --old and --base.
func (a *run) readOld(ctx context.Context, o *Options, paths []string, crds *definitions) (*oldObjects, error) {
	olds := &oldObjects{byKey: map[string]*oldObject{}, byFile: map[[2]string]*oldObject{}}
	read := func(doc *input.Document) oldRead {
		if below(doc, o.Olds) && noObject(doc) != "" {
			return oldRead{}
		}
		return readOldObject(doc)
	}
	files := func(wait func(), yield func(input.Chunk) bool) { o.selection().Scan(a.Stdin, o.Olds, wait, yield) }
	err := batch.From(o.sharded(files, crds), read, func(r oldRead) error {
		olds.take(r, o, crds)
		return nil
	}).Run(ctx)
	if err != nil || o.Base == "" {
		return olds, err
	}
	err = gitrevision.Read(ctx, o.Base, paths, func(chunk input.Chunk) error {
		if slices.ContainsFunc(paths, func(root string) bool { return o.selection().Excludes(root, chunk.File) }) {
			return ctx.Err()
		}
		chunk.Each(func(doc *input.Document) bool {
			if below(doc, paths) && noObject(doc) != "" {
				return true
			}
			a.addBase(olds, readOldObject(doc), o, crds)
			return true
		})
		return ctx.Err()
	})
	return olds, err
}

// take is add that keeps what is wrong.
func (o *oldObjects) take(r oldRead, options *Options, crds *definitions) {
	if err := o.add(r, options, crds); err != nil {
		o.problems = append(o.problems, fmt.Errorf("--old: %s: %w", r.place, err))
	}
}

// add takes an object of --old.
func (o *oldObjects) add(r oldRead, options *Options, crds *definitions) error {
	if !options.owns(crds.shardKey(r.named)) {
		return nil
	}
	if r.err != nil || !crds.knows(r.object) {
		return r.err
	}
	key := crds.key(r.object)
	if o.byKey[key] != nil {
		return fmt.Errorf("%s is given twice: keep one", key)
	}
	o.byKey[key] = newOldObject(r)
	return nil
}

// addBase takes an object of --base. What cannot be read there is no problem of
// today's files, so it is only told.
func (a *run) addBase(olds *oldObjects, r oldRead, o *Options, crds *definitions) {
	if !o.owns(crds.shardKey(r.named)) {
		return
	}
	if r.err != nil {
		a.Complain(fmt.Errorf("--base %s: %s: %w: it replaces nothing", o.Base, r.place, r.err))
		return
	}
	if !crds.knows(r.object) {
		return
	}
	key := crds.key(r.object)
	old := newOldObject(r)
	olds.byFile[[2]string{r.file, key}] = old
	if olds.byKey[key] == nil {
		olds.byKey[key] = old
	}
}

type oldRead struct {
	file, place string
	object      map[string]any
	named       map[string]any // as much of it as tells its name
	json        []byte
	err         error
}

func readOldObject(doc *input.Document) oldRead {
	return oldRead{doc.File, doc.Place(), doc.Object, doc.Named(), doc.FromJSON(), doc.Err}
}
