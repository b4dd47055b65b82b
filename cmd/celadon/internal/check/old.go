package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
)

// readOld reads the old objects of --old and --base. The objects of --base are filtered as the objects to check are:
// the kustomizations of the work tree determine which files of the revision are patches.
func (r *runner) readOld(
	ctx context.Context, o *Options, crds *verdict.CRDs, decides *verdict.Config,
) (*verdict.Olds, error) {
	olds, filter := verdict.NewOlds(), decides.Filter
	olds.WithoutCRD, olds.Server = len(o.policy.paths) > 0, decides.Server
	given := resource.NewFilter(o.Olds)
	read := func(doc *input.Document) verdict.Old {
		if given.Ignores(doc) {
			return verdict.Old{}
		}
		return verdict.ReadOld(doc)
	}
	err := batch.From(r.source(o, o.Olds), read, func(old verdict.Old) error {
		olds.Take(old, crds, o.owns)
		return nil
	}).Run(ctx)
	if err == nil && len(o.Olds) > 0 && olds.Given() == 0 && ctx.Err() == nil {
		err = fmt.Errorf("--old: no object in %s: want the objects before the update", strings.Join(o.Olds, ", "))
	}
	if err != nil || o.Base == "" {
		return olds, err
	}
	olds.Has = r.has(o, crds)
	paths := filter.Named
	base := &resource.Filter{Named: paths, Kustomizations: filter.Kustomizations}
	err = gitrevision.Read(ctx, o.Base, paths, func(chunk input.Chunk) error {
		if slices.ContainsFunc(paths, func(root string) bool { return o.selection().Excludes(root, chunk.File) }) {
			return ctx.Err()
		}
		o.adjust.chunk(chunk).Each(func(doc *input.Document) bool {
			if base.Ignores(doc) {
				return true
			}
			old := verdict.ReadOld(doc)
			if err := olds.TakeBase(old, crds, o.owns); err != nil {
				r.Complain(fmt.Errorf("--base %s: %s: %w: its objects are treated as new", o.Base, old.Location, err))
			}
			return true
		})
		return ctx.Err()
	})
	return olds, err
}

// has returns a function that reports whether a file of the work tree has an object with a key. It reads each file once.
func (r *runner) has(o *Options, crds *verdict.CRDs) func(file, key string) bool {
	var files sync.Map
	return func(file, key string) bool {
		read, _ := files.LoadOrStore(file, sync.OnceValue(func() map[string]bool {
			keys := map[string]bool{}
			if _, err := os.Stat(file); err != nil {
				return keys
			}
			o.selection().Scan(nil, []string{file}, func() {}, func(c input.Chunk) bool {
				c.Each(func(doc *input.Document) bool {
					keys[crds.Key(doc.Identity())] = true
					return true
				})
				return true
			})
			return keys
		}))
		return read.(func() map[string]bool)()[key]
	}
}
