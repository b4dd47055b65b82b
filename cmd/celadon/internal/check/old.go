package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
)

// readOld reads the old objects of --old and --base. The kustomizations of today determine which files of the revision
// are patches.
func (a *run) readOld(ctx context.Context, c *checker, paths []string) (*verdict.Olds, error) {
	o, crds := c.options, c.CRDs
	olds := verdict.NewOlds()
	olds.WithoutCRD = len(o.policy.paths) > 0
	filter := resource.NewFilter(o.Olds)
	read := func(doc *input.Document) verdict.Old {
		if filter.Ignores(doc) {
			return verdict.Old{}
		}
		return verdict.ReadOld(doc)
	}
	files := func(wait func(), yield func(input.Chunk) bool) { o.selection().Scan(a.Stdin, o.Olds, wait, yield) }
	err := batch.From(o.sharded(files, crds), read, func(r verdict.Old) error {
		olds.Take(r, crds, o.owns)
		return nil
	}).Run(ctx)
	if err == nil && len(o.Olds) > 0 && olds.Given() == 0 && ctx.Err() == nil {
		err = fmt.Errorf("--old: no object in %s: want the objects before the update", strings.Join(o.Olds, ", "))
	}
	if err != nil || o.Base == "" {
		return olds, err
	}
	base := &resource.Filter{Named: paths, Kustomizations: c.Kustomizations}
	err = gitrevision.Read(ctx, o.Base, paths, func(chunk input.Chunk) error {
		if slices.ContainsFunc(paths, func(root string) bool { return o.selection().Excludes(root, chunk.File) }) {
			return ctx.Err()
		}
		chunk.Each(func(doc *input.Document) bool {
			if base.Ignores(doc) {
				return true
			}
			old := verdict.ReadOld(doc)
			if err := olds.TakeBase(old, crds, o.owns); err != nil {
				a.Complain(fmt.Errorf("--base %s: %s: %w: its objects are treated as new", o.Base, old.Location, err))
			}
			return true
		})
		return ctx.Err()
	})
	return olds, err
}
