package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Run implements celadon diff. The error determines the exit code.
func Run(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	if err := o.check(paths); err != nil {
		return err
	}
	webhook, err := o.Convert.Open(converter.Patience)
	if err != nil {
		return err
	}
	allowances, err := allowances(ctx, o, paths)
	if err != nil {
		return err
	}
	client, err := o.Cluster.Connect(ctx, s.Complain, &o.KubeVersion)
	if err != nil {
		return err
	}
	if o.ToKubeVersion != "" && o.ToKubeVersion == o.KubeVersion {
		return fmt.Errorf("--to-kube-version %s: is the version before the upgrade too: want another", o.ToKubeVersion)
	}
	both, err := read(ctx, s, o, paths, client)
	if err != nil {
		return err
	}
	bar := progress.On(s.Stderr, "comparing", "CRDs")
	stdout, _ := bar.ReportWriter(s.Stdout)
	printers, err := reports.New(&o.Reports, o.Output, s.Stdout, stdout, o.newPrinter)
	if err != nil {
		return err
	}
	defer o.Reports.Discard()
	all := &Report{Kind: "DiffReport", APIVersion: "celadon/v1", CRDs: []*CRD{}}
	if o.ToKubeVersion != "" {
		all.KubeVersion, all.ToKubeVersion = o.KubeVersion, o.ToKubeVersion
	}
	d := &differ{Streams: s, options: o, client: client, sides: both, report: all, unread: len(both.problems) > 0}
	all.Removed = both.removed
	for _, r := range both.removed {
		if err := printers.Each(func(p printer) error { return p.removed(r) }); err != nil {
			return err
		}
	}
	// The user's own objects come first, because they matter more than examples.
	if len(o.Objects) > 0 || client != nil {
		err = d.objects(ctx, webhook, func(o *finding.Object) error {
			return printers.Each(func(p printer) error { return p.object(o) })
		})
	}
	if err == nil {
		err = d.crds(ctx, func(crd *CRD) error {
			bar.Add(1)
			allow(allowances, crd)
			all.Summary.count(crd)
			return printers.Each(func(p printer) error { return p.crd(crd) })
		})
	}
	bar.Done()
	if err != nil && ctx.Err() == nil {
		return err
	}
	for _, a := range allowances {
		if !a.used && ctx.Err() == nil {
			s.Complain(fmt.Errorf("--allow %s: %s: no change of %s matches (%s %s): remove the entry", o.Allow, a.location, a.crd, a.subject, a.path))
		}
	}
	all.Summary.Interrupted = ctx.Err() != nil
	all.Summary.Unreadable = len(both.problems)
	all.seal()
	if err := printers.End(func(p printer) error { return p.end(all) }); err != nil {
		return err
	}
	return d.verdict()
}

type differ struct {
	command.Streams
	options *Options
	client  *cluster.Client // nil without --cluster
	sides   *sides
	report  *Report
	unread  bool // some CRDs could not be read
	// undecided holds the problems of objects and CRDs whose verdict is undecided, for example because they take too
	// much work.
	undecided []error
	work      int64 // of all comparisons
}

func (d *differ) crds(ctx context.Context, take func(*CRD) error) error {
	var bug *engine.InternalError
	var failure *internalError
	for _, p := range d.sides.pairs {
		if d.unread && p.alone() {
			continue // its other side may be in an unreadable file
		}
		crd, err := d.compared(ctx, p)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &bug), errors.As(err, &failure):
			return &command.ExitError{Code: command.Bug, Err: fmt.Errorf("%s: %w", p.name, err)}
		case err != nil:
			d.sides.problems = append(d.sides.problems, fmt.Errorf("%s: %w", p.name, err))
			continue
		}
		if p.kept != nil {
			d.Complain(p.kept)
		}
		if crd.Update != nil && crd.Update.Undecided {
			d.undecided = append(d.undecided, fmt.Errorf("%s: the update of the CRD is undecided: %s", p.name, crd.Update.Problem))
		}
		if crd.limited > 0 {
			d.undecided = append(d.undecided, fmt.Errorf("%s: %s unknown: the work budget is used up", p.name, phrase.Count(crd.limited, "change")))
		}
		d.report.CRDs = append(d.report.CRDs, crd)
		if err := take(crd); err != nil {
			return err
		}
	}
	return nil
}

// objects compares the verdicts of the old and new CRDs on each given object.
func (d *differ) objects(ctx context.Context, converter engine.Converter, take func(*finding.Object) error) error {
	var before, after []resource.Read
	for _, p := range d.sides.pairs {
		if p.before != nil && p.after != nil {
			before = append(before, resource.Read{Location: p.before.doc.Location(), CRD: p.before.crd})
			after = append(after, resource.Read{Location: p.after.doc.Location(), CRD: p.after.crd})
		}
	}
	sum := &Objects{}
	d.report.Summary.Objects = sum
	cfg := engine.Config{KubeVersion: d.options.KubeVersion, Converter: converter}
	decides := verdict.Config{
		Locate: true, Explain: true, Filter: &resource.Filter{Named: d.options.Objects},
		Before: verdict.NewCRDs(cfg, before...),
	}
	cfg.KubeVersion = cmp.Or(d.options.ToKubeVersion, cfg.KubeVersion)
	decider := verdict.New(decides, verdict.NewCRDs(cfg, after...))
	decide := func(doc *input.Document) *finding.Object { return decider.Decide(ctx, doc) }
	err := batch.From(d.source(ctx), decide, func(o *finding.Object) error {
		switch {
		case o == nil:
			return batch.ErrStopped
		case o.Bug != nil:
			return &command.ExitError{Code: command.Bug, Err: o.Bug}
		case o.Verdict == finding.Unreadable, o.Verdict == finding.Undecided:
			to := &d.sides.problems
			if o.Verdict == finding.Undecided {
				to = &d.undecided
			}
			*to = append(*to, fmt.Errorf("%s: %s", finding.Location{File: o.File, Line: o.Line}, o.Problem))
			return nil
		case o.Upgrade == nil:
			return nil
		}
		sum.Checked++
		sum.Add(o.Upgrade)
		if !o.Upgrade.Finding() {
			return nil
		}
		d.report.Objects = append(d.report.Objects, o)
		return take(o)
	}).Run(ctx)
	d.sides.problems = append(d.sides.problems, decider.Problems()...)
	if err == nil && sum.Checked == 0 && len(d.options.Objects) > 0 && len(d.sides.problems)+len(d.undecided) == 0 {
		d.Complain(fmt.Errorf("--objects: no object of the compared kinds in %s", strings.Join(d.options.Objects, ", ")))
	}
	return err
}

// source returns the objects to check: from --objects, or from the cluster, of the kinds that both sides define.
func (d *differ) source(ctx context.Context) batch.Source {
	if d.client == nil {
		return batch.Files(d.Stdin, d.options.Objects)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, p := range d.sides.pairs {
		if p.before != nil && p.after != nil {
			crds = append(crds, p.before.crd.ForEngine())
		}
	}
	kinds, problems := d.client.Kinds(crds)
	d.sides.problems = append(d.sides.problems, problems...)
	return d.client.Objects(ctx, kinds)
}

// verdict returns the error that determines the exit code.
func (d *differ) verdict() error {
	s := &d.report.Summary
	problems := slices.Concat(d.sides.problems, d.undecided)
	for _, problem := range problems {
		d.Complain(problem)
	}
	switch {
	case s.Interrupted:
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: the report is incomplete")}
	case len(problems) > 0:
		return &command.ExitError{Code: command.Usage}
	case !d.report.Compatible, d.options.Strict && s.unproved > 0:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}
