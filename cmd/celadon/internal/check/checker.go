package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

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
	"github.com/celadon-cel/celadon/x/apply"
)

type checker struct {
	*verdict.Decider
	source batch.Source
	// policyProblems holds the errors of policies and bindings.
	policyProblems []error
}

// decides returns the configuration that follows from the flags alone.
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

func (r *runner) readCRDs(
	ctx context.Context, o *Options, paths []string, use verdict.Use, cfg engine.Config,
) (*verdict.CRDs, error) {
	return verdict.Read(ctx, r.source(o, paths), &resource.Filter{Named: paths}, use, cfg)
}

func (o *Options) engine() (engine.Config, error) {
	c, err := o.Convert.Open(converter.Patience)
	return engine.Config{KubeVersion: o.KubeVersion, Converter: c}, err
}

// newChecker reads the CRDs, the policies, and the old objects. Client is nil without --cluster.
func (r *runner) newChecker(ctx context.Context, o *Options, paths []string, client *cluster.Client) (*checker, error) {
	cfg, err := o.engine()
	if err != nil {
		return nil, err
	}
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
		decides.Before, err = r.readCRDs(ctx, o, o.CRDOlds, verdict.Use{Before: true}, cfg)
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
		return objects, nil // reading the CRDs has read all objects
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

// excerptWidth returns the width of the terminal, or 0 if the report does not go to one.
func (r *runner) excerptWidth(o *Options) int {
	if o.Out != "" {
		return 0
	}
	width, _ := command.Width(r.Stdout)
	return width
}

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
