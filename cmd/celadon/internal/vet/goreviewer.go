package vet

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

// GoReviewer vets Go packages that are open in an editor. It is safe for concurrent use.
type GoReviewer struct {
	reviewer *Reviewer
	without  []string

	mu    sync.Mutex
	known map[[sha256.Size]byte]*vetted // cache, because CRDs rarely change while a user types
}

// NewGoReviewer returns a GoReviewer. It takes the same options as NewReviewer.
func NewGoReviewer(d *Reviewer, o *Options) *GoReviewer {
	return &GoReviewer{reviewer: d, without: o.NoLints, known: map[[sha256.Size]byte]*vetted{}}
}

// Vet returns the findings of the packages in dir, an absolute path, with the CRDs in the module's usual folders.
// texts holds unsaved contents by file name. Vet returns an error if the packages cannot be vetted.
func (d *GoReviewer) Vet(ctx context.Context, dir string, texts map[string][]byte) ([]finding.Finding, error) {
	g, err := readGo([]string{dir}, texts)
	if err != nil {
		return nil, err
	}
	defer g.close()
	paths, err := g.crdFolders()
	if err != nil {
		return nil, err
	}
	run := &goRun{src: g, without: d.without, sum: &summary{}}
	input.Scan(nil, paths, func() {}, func(c input.Chunk) bool {
		return c.Each(func(doc *input.Document) bool {
			if one := d.vet(ctx, doc); one != nil {
				run.add(one)
			}
			return ctx.Err() == nil
		})
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	run.end()
	return run.all(), nil
}

func (d *GoReviewer) vet(ctx context.Context, doc *input.Document) *vetted {
	data, err := doc.JSON()
	if err != nil || doc.Object["kind"] != resource.Kind {
		return nil
	}
	sum := sha256.Sum256(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.known[sum]; was != nil {
		one := *was
		one.doc, one.source = doc, nil
		return &one
	}
	one := d.reviewer.v.vet(ctx, doc)
	if one == nil || one.bug || ctx.Err() != nil {
		return nil
	}
	if len(d.known) > maxCached {
		clear(d.known)
	}
	d.known[sum] = one
	return one
}

const maxCached = 1000
