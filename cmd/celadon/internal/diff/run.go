package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/compare"
	"github.com/celadon-cel/celadon/x/secret"
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
			s.Complain(fmt.Errorf("--allow %s: %s: no change of %s matches (%s %s): remove the entry", o.Allow, a.location, a.CRD, a.Subject, a.Path))
		}
	}
	all.Summary.Interrupted = ctx.Err() != nil
	all.Summary.Unreadable = len(both.problems)
	all.Summary.undecided = len(d.undecided)
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
	// undecided holds the problems of objects and CRDs whose verdict is undecided.
	undecided []error
	work      int64
}

func (d *differ) crds(ctx context.Context, take func(*CRD) error) error {
	var bug *engine.InternalError
	var exit *command.ExitError
	for _, p := range d.sides.pairs {
		if d.unread && p.alone() {
			continue // its other side may be in an unreadable file
		}
		crd, err := d.compared(ctx, p)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &exit):
			return exit
		case errors.As(err, &bug):
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
		decider.Settle(o)
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

func (d *differ) compared(ctx context.Context, p *pair) (*CRD, error) {
	o := d.options
	crd := &CRD{Name: p.name, Changes: []*Change{}}
	if p.before != nil {
		crd.OldFile, crd.OldLine = p.before.doc.File, p.before.doc.Line
	}
	if p.after != nil {
		crd.NewFile, crd.NewLine = p.after.doc.File, p.after.doc.Line
	}
	switch {
	case p.after == nil:
		crd.Changes = append(crd.Changes, &Change{Subject: "CRD", Old: p.name, Effect: compare.Breaking, By: compare.ByProof, Proof: "its clients get 404", OldLine: crd.OldLine})
		return crd, nil
	case p.before == nil:
		crd.Changes = append(crd.Changes, &Change{Subject: "CRD", New: p.name, Effect: compare.Loosening, By: compare.ByProof, Proof: "it is new, so nothing uses it", NewLine: crd.NewLine})
		return crd, nil
	}
	var err error
	if crd.Update, err = p.update(ctx, o); err != nil {
		return nil, err
	}
	if crd.KubeVersions, err = p.upgrade(ctx, o); err != nil {
		return nil, err
	}
	cfg := compare.Config{Steps: o.Steps, Seed: o.Seed, KubeVersion: o.KubeVersion, ToKubeVersion: o.ToKubeVersion, Earlier: d.work}
	r, err := compare.CRDs(ctx, p.before.crd.ForEngine(), p.after.crd.ForEngine(), cfg)
	if err != nil {
		return nil, err
	}
	d.work += r.Work
	oldFields, newFields := make([]string, len(r.Changes)), make([]string, len(r.Changes))
	for i := range r.Changes {
		oldFields[i], newFields[i] = vet.Place(r.Changes[i].OldField), vet.Place(r.Changes[i].NewField)
	}
	olds, news := p.before.doc.Locate(oldFields), p.after.doc.Locate(newFields)
	for i := range r.Changes {
		change := p.change(&r.Changes[i])
		if r.Changes[i].Limited {
			crd.limited++
		}
		if change.NewLine = news[i].Line; o.ToKubeVersion == "" {
			change.OldLine = olds[i].Line
		}
		crd.Changes = append(crd.Changes, change)
	}
	return crd, nil
}

// update returns nil if two Kubernetes versions are compared.
func (p *pair) update(ctx context.Context, o *Options) (*finding.CRD, error) {
	if o.ToKubeVersion != "" {
		return nil, nil
	}
	old, err := resource.Decode(p.before.doc)
	if err != nil {
		return nil, err
	}
	verdict := (&verdict.CRDReviewer{KubeVersion: o.KubeVersion, Old: old}).Review(ctx, p.after.doc)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if verdict != nil && verdict.Bug != nil {
		return nil, &command.ExitError{Code: command.Bug, Err: fmt.Errorf("%s: %w", p.name, verdict.Bug)}
	}
	if verdict != nil && len(verdict.Kept) > 0 {
		p.kept = finding.Kept(p.after.doc.Location(), verdict.Kept)
	}
	return verdict, nil
}

func (p *pair) change(c *compare.CRDChange) *Change {
	return &Change{
		Version: c.Version, OldVersion: differs(c.OldVersion, c.Version), Also: c.Also, Path: c.Path, Subject: c.Subject, Old: c.Old, New: c.New,
		Effect: c.Effect, Clusters: c.Clusters, By: c.By, Proof: c.Proof, Reason: c.Reason, Searched: c.Searched,
		Rejected: p.witness(c.Rejected), Admitted: p.witness(c.Admitted), Kept: p.witness(c.Kept),
	}
}

func differs(old, new string) string {
	if old == new {
		return ""
	}
	return old
}

// witness returns a copy of w without passwords.
func (p *pair) witness(w *compare.Witness) *Witness {
	if w == nil {
		return nil
	}
	out := &Witness{Operation: string(w.Operation), Create: w.Create, ChangedUpdate: w.ChangedUpdate, UnchangedUpdate: w.UnchangedUpdate, AlsoBreaks: w.AlsoBreaks}
	secrets := p.hide(w, out)
	for _, c := range w.Causes {
		message := c.Message
		for _, text := range secrets {
			message = strings.ReplaceAll(message, strconv.Quote(text), strconv.Quote(secret.Hidden))
		}
		if subject, _, ok := strings.Cut(message, ":"); ok && slices.Contains(out.Hidden, c.Field) {
			message = subject + ": " + secret.Hidden // the message may contain other values
		}
		out.Causes = append(out.Causes, finding.Cause{Reason: string(c.Reason), Field: c.Field, Message: message, Kind: c.Kind})
	}
	for _, c := range w.Kept {
		change := finding.Change{Field: engine.FormatPath(c.Path)}
		if !c.Added {
			change.Before = finding.Preview(c.Before, secrets)
		}
		if !c.Removed {
			change.After = finding.Preview(c.After, secrets)
		}
		out.Kept = append(out.Kept, change)
	}
	return out
}

// hide copies the objects to out without their passwords, and returns the passwords.
func (p *pair) hide(w *compare.Witness, out *Witness) (secrets secret.Texts) {
	out.Object, out.Old = runtime.DeepCopyJSON(w.Object), runtime.DeepCopyJSON(w.Old)
	for _, d := range []*definition{p.before, p.after} {
		object, old := secret.Of(d.crd.ForEngine(), w.Object), secret.Of(d.crd.ForEngine(), w.Old)
		object.Hide(out.Object)
		old.Hide(out.Old)
		secrets = append(append(secrets, object.Texts...), old.Texts...)
		for _, path := range object.PathStrings() {
			if !slices.Contains(out.Hidden, path) {
				out.Hidden = append(out.Hidden, path)
			}
		}
	}
	return secrets
}
