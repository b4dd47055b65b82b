package check

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/phrase"
	"github.com/celadon-cel/celadon/types"
)

// How it works: with --cluster the CRDs and objects come from an API server in place
// of files, and go the same way from there. With --crd too, the cluster's CRDs are what
// --crd-old would give, and of its kinds only those are read that --crd defines.

// namedKinds is how many kinds are named without --verbose.
const namedKinds = 10

// connect finds the cluster, whose version is that of the run unless another is asked
// for; nil without --cluster.
func (a *run) connect(ctx context.Context, o *Options) (*cluster.Client, error) {
	if !o.Cluster.On {
		return nil, nil
	}
	client, err := o.Cluster.Open()
	if err != nil {
		return nil, err
	}
	client.Tell = a.Complain
	if o.KubeVersion == "" {
		o.KubeVersion, err = client.KubeVersion(ctx)
	}
	return client, err
}

// clusterCRDs are all that the cluster has.
func clusterCRDs(ctx context.Context, client *cluster.Client, j *judge, cfg engine.Config) (*definitions, error) {
	var failed error
	all := func(wait func(), yield func(input.Chunk) bool) { failed = client.CRDs(ctx, wait, yield) }
	d, err := readCRDsFrom(ctx, all, []string{client.String()}, j, cfg)
	if err == nil {
		err = failed
	}
	return d, err
}

// objectsOf are those of the kinds that the CRDs define.
func (a *run) objectsOf(ctx context.Context, client *cluster.Client, c *checker) sweep.Source {
	var kinds []cluster.Kind
	for _, def := range c.crds.all {
		crd := def.crd
		if c.before != nil {
			if crd = c.before.named(crd.Name); crd == nil {
				a.Complain(fmt.Errorf("%s: %s: %s has no such CRD, and so no objects", def.place, def.crd.Name, client))
				continue
			}
		}
		k, err := cluster.KindOf(crd)
		if err != nil {
			c.crds.problems = append(c.crds.problems, err)
		} else if client.In(k) {
			kinds = append(kinds, k)
		}
	}
	a.announce(client, c.options, kinds)
	return func(wait func(), yield func(input.Chunk) bool) { client.Objects(ctx, kinds, wait, yield) }
}

// announce says what is read.
func (a *run) announce(client *cluster.Client, o *Options, kinds []cluster.Kind) {
	if o.Quiet {
		return
	}
	most := namedKinds
	if o.Verbose {
		most = len(kinds)
	}
	v, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return // it was looked at before
	}
	a.Complain(fmt.Errorf("%s, as Kubernetes %s: %s at the version that is stored: %s", client, v, phrase.Count(len(kinds), "kind"), cluster.Names(kinds, most)))
}
