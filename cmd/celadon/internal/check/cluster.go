package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// How it works. With --cluster, the CRDs and objects come from an API server instead of files, and
// are processed in the same way. With --crd as well, the cluster's CRDs take the role of --crd-old,
// and only objects of the kinds that --crd defines are read.

// namedKinds limits the kinds that are listed without --verbose.
const namedKinds = 10

// clusterCRDs returns the cluster's CRDs for which wanted returns true, or all if wanted is nil.
func clusterCRDs(ctx context.Context, client *cluster.Client, wanted func(string) bool, use verdict.Use, cfg engine.Config) (*verdict.CRDs, error) {
	all, failed := client.CRDs(ctx, wanted)
	d, err := verdict.Read(ctx, all, &resource.Filter{Named: []string{client.String()}}, use, cfg)
	if err == nil {
		err = failed()
	}
	if wanted != nil { // missing CRDs are reported individually
		d.Problems = slices.DeleteFunc(d.Problems, func(err error) bool { return errors.Is(err, verdict.ErrNoCRD) })
	}
	return d, err
}

// before reads the CRDs of --crd and the cluster's CRDs that they replace. It returns the chunks of
// --crd as a new source, because standard input can be read only once.
func (r *runner) before(
	ctx context.Context, o *Options, client *cluster.Client, cfg engine.Config,
) (after batch.Source, before *verdict.CRDs, err error) {
	var chunks []input.Chunk
	names := map[string]bool{}
	kept := func(wait func(), yield func(input.Chunk) bool) {
		r.source(o, o.CRDs)(wait, func(c input.Chunk) bool {
			chunks = append(chunks, c)
			return yield(c)
		})
	}
	name := func(doc *input.Document) string { return doc.Identity().Name }
	err = batch.From(kept, name, func(name string) error { names[name] = true; return nil }).Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	after = func(_ func(), yield func(input.Chunk) bool) {
		for _, c := range chunks {
			if !yield(c) {
				return
			}
		}
	}
	before, err = clusterCRDs(ctx, client, func(name string) bool { return names[name] }, verdict.Use{Before: true}, cfg)
	return after, before, err
}

// objectsOf returns the source of the cluster's objects of the kinds that the CRDs define.
func (r *runner) objectsOf(
	ctx context.Context, o *Options, client *cluster.Client, before, after *verdict.CRDs,
) batch.Source {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, def := range after.All {
		crd := def.CRD.ForEngine()
		if before != nil {
			if crd = before.Complete(crd.Name); crd == nil {
				r.Complain(fmt.Errorf("%s: %s: %s has no such CRD, so it has no objects", def.Location, def.CRD.Name, client))
				continue
			}
		}
		crds = append(crds, crd)
	}
	kinds, problems := client.Kinds(crds)
	after.Problems = append(after.Problems, problems...)
	r.announce(client, o, kinds)
	return client.Objects(ctx, kinds)
}

func (r *runner) announce(client *cluster.Client, o *Options, kinds []cluster.Kind) {
	if o.Quiet {
		return
	}
	names, limit := make([]string, len(kinds)), namedKinds
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	if o.Verbose {
		limit = len(kinds)
	}
	v, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return // Check has validated the version
	}
	count := phrase.Count(len(kinds), "kind")
	r.Complain(fmt.Errorf("%s, as Kubernetes %s: %s in the storage version: %s", client, v, count, resource.Some(names, limit)))
}
