package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/gitbase"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// oldObjects are what updates replace, by key.
type oldObjects map[string]*oldObject

type oldObject struct {
	object map[string]any
	paired atomic.Bool
}

// find is the old self of an object.
func (o oldObjects) find(crds *definitions, obj map[string]any) (map[string]any, bool) {
	if len(o) == 0 {
		return nil, false
	}
	old := o[crds.key(obj)]
	if old == nil {
		return nil, false
	}
	old.paired.Store(true)
	return old.object, true
}

// vanished counts the old objects of known kinds that no new one replaces.
func (o oldObjects) vanished(crds *definitions) int {
	n := 0
	for _, old := range o {
		if !old.paired.Load() && crds.byKind[identify(old.object).groupKind()] != nil {
			n++
		}
	}
	return n
}

// key pairs an object with its old self. A missing namespace is "default"
// where the kind has namespaces.
func (d *definitions) key(obj map[string]any) string {
	id := identify(obj)
	namespace := ""
	if d.namespaced(id.groupKind()) {
		if namespace = id.Namespace; namespace == "" {
			namespace = "default"
		}
	}
	return strings.Join([]string{id.groupKind().String(), namespace, id.Name}, "/")
}

// readOld reads the old objects of --old and --base.
func (a *app) readOld(ctx context.Context, o *checkOptions, paths []string, crds *definitions) (oldObjects, error) {
	olds := oldObjects{}
	take := func(flag string) func(oldRead) error {
		return func(r oldRead) error {
			if r.err != nil {
				return fmt.Errorf("%s: %s: %w", flag, r.place, r.err)
			}
			key := crds.key(r.object)
			if olds[key] != nil {
				return fmt.Errorf("%s: %s: %s is given twice: keep one", flag, r.place, key)
			}
			olds[key] = &oldObject{object: r.object}
			return nil
		}
	}
	if err := decodeAll(ctx, a.stdin, o.olds, readOldObject, take("--old")); err != nil {
		return nil, err
	}
	if o.base == "" {
		return olds, nil
	}
	add := take("--base " + o.base)
	err := gitbase.Read(ctx, o.base, paths, func(chunk input.Chunk) (err error) {
		chunk.Each(func(doc *input.Document) bool {
			err = add(readOldObject(doc))
			return err == nil
		})
		return err
	})
	return olds, err
}

type oldRead struct {
	place  string
	object map[string]any
	err    error
}

func readOldObject(doc *input.Document) oldRead {
	return oldRead{doc.Place(), doc.Object, doc.Err}
}
