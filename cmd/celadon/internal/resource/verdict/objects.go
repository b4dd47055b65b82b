package verdict

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// A Side holds the CRDs before or after a change, and the API server that serves them.
type Side struct {
	Config engine.Config
	CRDs   []resource.Read
}

// Upgrade reports how a change of their CRDs affects the objects of a source, in its order, like
// celadon check --crd-old. The paths in named were named by the user instead of found below a
// folder. The problems are the errors of CRDs that cannot be used.
func Upgrade(ctx context.Context, before, after Side, from batch.Source, named []string, take func(*finding.Object) error) (problems []error, err error) {
	c := &Decider{Config: Config{Locate: true, Explain: true, Named: named}}
	c.Before, c.CRDs = gathered(before), gathered(after)
	err = batch.From(from, func(doc *input.Document) *finding.Object { return c.Decide(ctx, doc) }, func(o *finding.Object) error {
		if o == nil {
			return batch.ErrStopped
		}
		return take(o)
	}).Run(ctx)
	return c.Problems(), err
}

// gathered returns CRDs that were read before.
func gathered(side Side) *CRDs {
	d := &CRDs{catalog: catalog.New(catalog.Config{Engine: side.Config, Lazy: true}), byEntry: map[*catalog.Entry]*Definition{}}
	given := make([]crdRead, len(side.CRDs))
	for i, r := range side.CRDs {
		given[i].Read = r
	}
	for _, r := range d.add(given) {
		d.Problems = append(d.Problems, fmt.Errorf("%s: %s", r.Location, r.differsFrom(given)))
	}
	return d
}
