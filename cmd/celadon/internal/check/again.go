package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

// Decided is what other runs decided, in the order of their input. An error of its
// own, and not of a take, is a *cli.ExitError.
type Decided struct {
	// Head is what all the runs have in common.
	Head *report.PartHead
	// CRDs gives all CRDs, Objects then all objects and how each part ended.
	CRDs    func(take func(*report.CRD) error) error
	Objects func(take func(*report.Object) error, end func(*report.PartLine) error) error
	// Missing are the parts that are not there; Unclear: something else is wrong,
	// and was told.
	Missing []string
	Unclear bool
}

// Again writes the report of what other runs decided, as one run over all of it
// would.
func Again(ctx context.Context, s cli.Streams, o *Options, d *Decided) error {
	if err := o.checkReport(); err != nil {
		return err
	}
	o.NoVet = true // nothing to judge
	o.StrictKinds, o.Summary = d.Head.Has(report.StrictKinds), d.Head.Has(report.WithTables)
	a := &run{s}
	t, err := a.tally(ctx, o, d.Head.KubeVersion)
	if err != nil {
		return err
	}
	defer t.to.discard()
	if !d.Head.Has(report.NoVet) {
		t.summary.CRDs = &report.CRDSummary{}
	}
	t.summary.Missing, t.unclear = d.Missing, d.Unclear
	if err = d.CRDs(t.crd); err == nil {
		err = t.to.flush()
	}
	if err == nil {
		err = d.Objects(func(r *report.Object) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return t.again(r)
		}, t.ended)
	}
	t.to.bar.Done()
	if ctx.Err() != nil {
		err = nil // which end tells
	}
	return a.end(ctx, t, err)
}

// maxTold is how much of all parts together is kept: problems, stale lines of a
// baseline, rules.
const maxTold = 100_000

// ended adds how a part ended.
func (t *tally) ended(l *report.PartLine) error {
	s, end := l.Summary, l.End
	t.summary.Vanished += s.Vanished
	t.unselected += end.Unselected
	t.stale = append(t.stale, end.Stale...)
	for _, problem := range end.Problems {
		if t.told == nil {
			t.told = map[string]bool{}
		}
		if !t.told[problem] { // by another shard
			t.told[problem] = true
			t.problems = append(t.problems, errors.New(problem))
		}
	}
	rules := 0
	if t.tables != nil {
		t.tables.AddPart(s.Kinds, end.Rules)
		rules = t.tables.Rows()
	}
	if s.Baseline != nil && t.summary.Baseline == nil {
		t.summary.Baseline = &report.BaselineSummary{}
	}
	if len(t.problems)+len(t.stale)+rules > maxTold {
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("the reports tell of more than %d problems, stale lines of a baseline and rules", maxTold)}
	}
	return nil
}

// again takes what another run decided.
func (t *tally) again(r *report.Object) error {
	if t.baseline != nil {
		t.baseline.see(r.Source, r.File)
	}
	t.to.bar.Add(1)
	if !t.options.explains() {
		for i := range r.Causes {
			r.Causes[i].Values = nil
		}
	}
	return t.object(r)
}
