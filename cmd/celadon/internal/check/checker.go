package check

import (
	"context"
	"io"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
)

// A checker decides the objects of a run.
type checker struct {
	*verdict.Decider
	options  *Options
	source   batch.Source
	reviewer *verdict.CRDReviewer // nil if the CRDs are not vetted
	// policyProblems holds the errors of policies and bindings.
	policyProblems []error
}

// decides returns the configuration for deciding and reporting objects.
func (o *Options) decides(named []string, width int) verdict.Config {
	return verdict.Config{
		KubeVersion: o.KubeVersion, Validation: o.validation, Subresource: o.Subresource, Named: named, Width: width,
		Locate: o.locates(), Explain: o.explains(), Trace: o.Summary,
		Persisted: o.Persisted || o.Output == "yaml", Selectable: o.Output == "json" || o.Output == "jsonl", Diff: o.Diff, Row: o.Output == "wide", Now: o.now,
		Keyed: o.partial() || o.baselined(), Elsewhere: o.elsewhere, Selector: o.selector,
	}
}

// readCRDs reads the CRDs at paths.
func readCRDs(ctx context.Context, stdin io.Reader, paths []string, from input.Selection, use verdict.Use, cfg engine.Config) (*verdict.CRDs, error) {
	source := func(wait func(), yield func(input.Chunk) bool) { from.Scan(stdin, paths, wait, yield) }
	return verdict.Read(ctx, source, paths, use, cfg)
}

func (o *Options) engine() (engine.Config, error) {
	c, err := o.Convert.Open(converter.Patience)
	return engine.Config{KubeVersion: o.KubeVersion, Converter: c}, err
}

// newChecker reads the CRDs and the old objects. Client is nil without --cluster.
func (a *run) newChecker(ctx context.Context, o *Options, paths []string, client *cluster.Client) (*checker, error) {
	c := &checker{options: o, source: a.files(o, paths), Decider: &verdict.Decider{Config: o.decides(paths, a.excerptWidth(o))}}
	cfg, err := o.engine()
	if err != nil {
		return nil, err
	}
	from, crdPaths := o.selection(), o.crdPaths(paths)
	c.Kustomizations, c.Among = resource.NewKustomizations(slices.Concat(paths, crdPaths)...), o.among()
	after := func(wait func(), yield func(input.Chunk) bool) { from.Scan(a.Stdin, crdPaths, wait, yield) }
	switch {
	case client != nil && len(o.CRDs) > 0:
		after, c.Before, err = a.before(ctx, o, client, cfg)
	case len(o.CRDOlds) > 0:
		c.Before, err = readCRDs(ctx, a.Stdin, o.CRDOlds, from, verdict.Use{Before: true}, cfg)
	}
	if err != nil {
		return nil, err
	}
	if !o.NoVet {
		c.reviewer = &verdict.CRDReviewer{KubeVersion: o.KubeVersion, Validation: o.validation, Before: c.Before, Width: c.Width, Now: o.reportsPart()}
	}
	if client != nil && len(o.CRDs) == 0 {
		c.CRDs, err = clusterCRDs(ctx, client, nil, verdict.Use{Vet: c.reviewer}, cfg)
	} else {
		use := verdict.Use{Vet: c.reviewer, Optional: len(o.policy.paths) > 0 && len(o.CRDs) == 0, Among: o.among(), Kustomizations: c.Kustomizations}
		c.CRDs, err = verdict.Read(ctx, after, crdPaths, use, cfg)
	}
	if err != nil {
		return nil, err
	}
	if c.Admission, c.policyProblems, err = a.admission(ctx, o, c.CRDs); err != nil {
		return nil, err
	}
	if client != nil {
		c.source = a.objectsOf(ctx, client, c)
	}
	c.Olds, err = a.readOld(ctx, c, paths)
	return c, err
}

// gutter is the number of columns around an excerpt, for line numbers and ellipses.
const gutter = 10

// excerptWidth returns the width of excerpts that fits the terminal, or 0 for the default if the
// report does not go to a terminal.
func (a *run) excerptWidth(o *Options) int {
	width, _ := command.Width(a.Stdout)
	if width == 0 || o.Out != "" {
		return 0
	}
	return max(2*gutter, width-gutter)
}
