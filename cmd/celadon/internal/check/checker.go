package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
)

type checker struct {
	*verdict.Decider
	source         batch.Source
	policyProblems []error
}

func (o *Options) decides(width int) verdict.Config {
	return verdict.Config{
		KubeVersion: o.KubeVersion, Validation: o.validation, Subresource: o.Subresource, Among: o.among(), Width: width,
		Apply:  apply.Write{Kind: apply.Kind(o.Apply), Manager: o.FieldManager, Force: o.ForceConflicts},
		Locate: o.locates(), Explain: o.explains(), Trace: o.Summary,
		Persisted: o.Persisted || o.Output == "yaml", Selectable: o.Output == "json" || o.Output == "jsonl", Diff: o.Diff, Row: o.Output == "wide", Now: o.now,
		Keyed: o.partial() || o.baselined(), Elsewhere: o.elsewhere, Selector: o.selector,
	}
}

func (r *runner) source(o *Options, paths []string) batch.Source {
	return o.adjusted(batch.Selected(o.selection(), r.Stdin, paths))
}

// newChecker reads the CRDs, the policies, and the old objects. client is nil without --cluster.
func (r *runner) newChecker(ctx context.Context, o *Options, paths []string, client *cluster.Client) (*checker, error) {
	converter, err := o.Convert.Open(converter.Patience)
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{KubeVersion: o.KubeVersion, Converter: converter}
	crdPaths := o.crdPaths(paths)
	patches := resource.NewKustomizations(slices.Concat(paths, crdPaths)...)
	decides := o.decides(r.excerptWidth(o))
	decides.Filter = &resource.Filter{Named: paths, Kustomizations: patches}
	after := r.source(o, crdPaths)
	if o.among() {
		after = o.withRendered(after)
	}
	switch {
	case client != nil && len(o.CRDs) > 0:
		after, decides.Before, err = r.before(ctx, o, client, cfg)
	case len(o.CRDOlds) > 0:
		decides.Before, err = verdict.Read(ctx, r.source(o, o.CRDOlds), &resource.Filter{Named: o.CRDOlds}, verdict.Use{Before: true}, cfg)
	}
	if err != nil {
		return nil, err
	}
	use := verdict.Use{Optional: len(o.CRDs) == 0, Among: o.among(), Keep: builtins.Read, KeptKinds: builtin.ReadKinds()}
	if !o.NoVet {
		use.Vet = &verdict.CRDReviewer{
			KubeVersion: o.KubeVersion, Validation: o.validation, Before: decides.Before, Width: decides.Width,
		}
	}
	var crds *verdict.CRDs
	if client != nil && len(o.CRDs) == 0 {
		crds, err = clusterCRDs(ctx, client, nil, verdict.Use{Vet: use.Vet}, cfg)
	} else {
		crds, err = verdict.Read(ctx, after, &resource.Filter{Named: crdPaths, Kustomizations: patches}, use, cfg)
	}
	if err != nil {
		return nil, err
	}
	c := &checker{source: r.files(o, paths)}
	if decides.Admission, c.policyProblems, err = r.admission(ctx, o, crds); err != nil {
		return nil, err
	}
	if len(o.CRDOlds) == 0 { // an upgrade concerns custom resources only
		decides.Server = builtins.New(o.Plugins, func() ([]map[string]any, error) {
			return r.surroundings(ctx, o, paths, crds, decides.Admission)
		})
	}
	if client != nil {
		c.source = r.objectsOf(ctx, o, client, decides.Before, crds)
	}
	decides.Olds, err = r.readOld(ctx, o, crds, &decides)
	c.Decider = verdict.New(decides, crds)
	return c, err
}

// surroundings returns the given objects that admission plugins read.
func (r *runner) surroundings(
	ctx context.Context, o *Options, paths []string, crds *verdict.CRDs, admission *verdict.Admission,
) ([]map[string]any, error) {
	objects := slices.Clip(crds.Kept)
	if admission != nil {
		objects = append(objects, admission.Policies.Documents()...)
	}
	if o.among() {
		return objects, nil // crds.Kept has the objects at paths
	}
	filter := resource.NewFilter(paths)
	read := func(doc *input.Document) map[string]any {
		if doc.Err != nil || !builtins.Read(doc.Identity()) || filter.Reason(doc) != "" {
			return nil
		}
		return doc.Object
	}
	named := input.WithoutStdin(paths)
	source := func(wait func(), yield func(input.Chunk) bool) {
		o.withRendered(r.source(o, named))(wait, func(c input.Chunk) bool {
			c.Skip = verdict.Without(builtin.ReadKinds())
			return yield(c)
		})
	}
	err := batch.From(source, read, func(object map[string]any) error {
		if object != nil {
			objects = append(objects, object)
		}
		return nil
	}).Run(ctx)
	return objects, err
}

// excerptWidth returns 0 if the report does not go to a terminal.
func (r *runner) excerptWidth(o *Options) int {
	if o.Out != "" {
		return 0
	}
	width, _ := command.Width(r.Stdout)
	return width
}

// readOld filters the objects of --base as the objects to check: the kustomizations of the work tree determine
// which files of the revision are patches.
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
	if counts, _ := olds.Count(); err == nil && len(o.Olds) > 0 && counts.Given == 0 && ctx.Err() == nil {
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

// has returns a function that reads each file at most once.
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

// How it works. With --cluster, the CRDs and objects come from an API server instead of files, and
// are processed in the same way. With --crd as well, the cluster's CRDs take the role of --crd-old,
// and only objects of the kinds that --crd defines are read.

const namedKinds = 10

// clusterCRDs returns all CRDs if wanted is nil.
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
