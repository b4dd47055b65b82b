package check

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// Upgrade tells of objects what a change of their CRDs does to them, as celadon
// check --crd-old does, in the order of their source; what of it is named is not below
// a folder. The problems are of CRDs that cannot be used.
func Upgrade(ctx context.Context, cfg engine.Config, before, after []resource.Read, from batch.Source, named []string, take func(*finding.Object) error) (problems []error, err error) {
	c := &checker{options: &Options{Output: "github"}, olds: &oldObjects{}, named: named}
	c.before, c.crds = gathered(cfg, before), gathered(cfg, after)
	err = batch.From(from, func(doc *input.Document) *finding.Object { return c.decide(ctx, doc) }, func(o *finding.Object) error {
		if o == nil {
			return batch.ErrStopped
		}
		return take(o)
	}).Run(ctx)
	return c.problems(), err
}

// gathered are CRDs that were read before.
func gathered(cfg engine.Config, reads []resource.Read) *definitions {
	d := &definitions{catalog: catalog.New(catalog.Config{Engine: cfg, Lazy: true}), byEntry: map[*catalog.Entry]*definition{}}
	given := make([]crdRead, len(reads))
	for i, r := range reads {
		given[i].Read = r
	}
	d.add(given)
	return d
}

// Ignored is true of what stands below a folder and is nothing that a server is
// sent.
func Ignored(doc *input.Document, named []string) bool {
	return below(doc, named) && noObject(doc) != ""
}
