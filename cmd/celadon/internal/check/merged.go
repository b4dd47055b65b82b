package check

import (
	"context"
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
)

// Results holds the results of other runs, in the order of their input. The functions return the errors of take
// unchanged; their own errors are *command.ExitError.
type Results struct {
	// Head holds the settings that all runs share.
	Head *finding.PartHead
	// CRDs yields all CRDs. Objects yields all objects and the end of each part.
	CRDs    func(take func(*finding.CRD) error) error
	Objects func(take func(*finding.Object) error, end func(source string, l *finding.PartLine)) error
	// Missing lists the parts without a report. Unclear is set if there was another problem, which has been printed.
	Missing []string
	Unclear bool
}

// WriteMerged writes the report of other runs' results, as a single run over all the input would.
func WriteMerged(ctx context.Context, s command.Streams, o *Options, d *Results) error {
	if err := o.checkReport(); err != nil {
		return err
	}
	o.NoVet = true // the CRDs were vetted by the other runs
	o.StrictKinds, o.Summary = d.Head.Has(finding.StrictKinds), d.Head.Has(finding.WithTables)
	r := &runner{s}
	t, err := r.tally(ctx, o, d.Head.KubeVersion)
	if err != nil {
		return err
	}
	defer t.to.discard()
	t.summary.Missing, t.parts.unclear = d.Missing, d.Unclear
	steps := []func() error{
		func() error { return t.mergeObjects(ctx, d) },
		func() error { return t.mergeCRDs(d) },
	}
	if o.Output == "text" { // as in a single run
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = t.to.flush()
	}
	if ctx.Err() != nil {
		err = nil // finish reports the interruption
	}
	return r.finish(ctx, t, err)
}

func (t *tally) mergeObjects(ctx context.Context, d *Results) error {
	defer t.to.bar.Done()
	return d.Objects(func(r *finding.Object) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return t.again(r)
	}, t.ended)
}

func (t *tally) mergeCRDs(d *Results) error {
	if d.Head.Has(finding.NoVet) {
		return nil
	}
	t.summary.CRDs = &finding.CRDSummary{}
	return d.CRDs(t.crd)
}

func (t *tally) ended(source string, l *finding.PartLine) {
	s, end := l.Summary, l.End
	t.summary.Vanished += s.Vanished
	t.addOld(source, s.Old)
	t.unselected += end.Unselected
	if t.parts.problems == nil {
		t.parts.problems = map[string]bool{}
	}
	for _, text := range end.Problems {
		if text = finding.InSource(source, text); !t.parts.problems[text] { // not yet reported by another shard
			t.parts.problems[text] = true
			t.problems = append(t.problems, errors.New(text))
		}
	}
	t.stale = append(t.stale, end.Stale...)
	if t.tables != nil {
		t.tables.AddPart(s.Kinds, end.Rules)
	}
	if s.Baseline != nil && t.summary.Baseline == nil {
		t.summary.Baseline = &finding.BaselineSummary{}
	}
}

// addOld adds the counts of old objects of a part. All shards of a source read the same objects.
func (t *tally) addOld(source string, part *finding.OldSummary) {
	if part == nil {
		return
	}
	if t.summary.Old == nil {
		t.summary.Old, t.parts.olds = &finding.OldSummary{}, map[string]bool{}
	}
	if !t.parts.olds[source] {
		t.parts.olds[source] = true
		t.summary.Old.Given += part.Given
	}
	t.summary.Old.Matched += part.Matched
}

// again adds a result of another run.
func (t *tally) again(r *finding.Object) error {
	if t.baseline != nil {
		t.baseline.see(r.Source, r.File)
	}
	t.to.bar.Add(1)
	if !t.options.explains() {
		r.Following = nil
		for i := range r.Causes {
			r.Causes[i].Values, r.Causes[i].NotShown = nil, ""
		}
	}
	return t.object(r)
}
