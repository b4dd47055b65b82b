package check

import (
	"cmp"
	"context"
	"runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
	"github.com/celadon-cel/celadon/x/trace"
)

// tally counts and prints what was decided, in the order of the input.
type tally struct {
	options  *Options
	checker  *checker // nil where others decided
	to       *destination
	baseline *baseline // nil: none was asked for
	summary  finding.Summary
	tables   *finding.Tables // nil: not asked for
	findings int
	// unselected counts the objects that were not asked for.
	unselected int
	problems   []error // with what was to be decided, or to decide it by
	stale      []string
	seen       seen
	bug        error
	template   string // the last file that is one
	parts      told
}

// told is what the parts of a merged report told.
type told struct {
	problems map[string]bool
	unclear  bool // something was wrong with a part, and was told
}

func (a *run) tally(ctx context.Context, o *Options, kubeVersion string) (*tally, error) {
	t := &tally{options: o}
	var err error
	if t.baseline, err = readBaseline(ctx, o, a.Complain); err != nil {
		return nil, err
	}
	if t.to, err = a.destination(o, kubeVersion); err != nil {
		return nil, err
	}
	if o.Summary {
		t.tables = finding.NewTables()
	}
	return t, nil
}

// shows is true where the report tells of what is no object.
func (t *tally) shows() bool {
	return t.options.Output == "text" && t.options.Verbose || t.to.head != nil
}

// crdVerdict tells of the CRDs.
func (t *tally) judged(ctx context.Context) error {
	if t.to.head != nil {
		t.to.head.CRDs = t.checker.digest()
	}
	if !t.options.NoVet {
		t.summary.CRDs = &finding.CRDSummary{}
	}
	crds := t.checker.crds
	pipe := parallel.Pipe[*crdVerdict, *finding.CRD]{
		Workers: runtime.GOMAXPROCS(0),
		Produce: func(send func(*crdVerdict) bool) {
			for _, one := range crds.judged {
				if !send(one) {
					return
				}
			}
		},
		Work: func(one *crdVerdict) *finding.CRD {
			if one.report != nil {
				return one.report
			}
			return crds.judge.review(ctx, one.doc, one.data)
		},
		Take: func(crd *finding.CRD) error {
			if crd == nil {
				return batch.ErrStopped // the context is cancelled
			}
			crd.Source = t.options.Source
			return t.crd(crd)
		},
		Idle: t.to.out.Flush,
	}
	if err := pipe.Run(ctx); err != nil {
		return err
	}
	return t.to.flush()
}

func (t *tally) crd(crd *finding.CRD) error {
	if crd.Bug != nil {
		t.bug = cmp.Or(t.bug, crd.Bug)
	}
	if crd.Refused() {
		o := crd.AsObject()
		t.know(o)
		crd.Known = o.Known
	}
	t.summary.CountCRD(crd)
	if crd.Refused() && !crd.Known {
		t.findings++ // and always shown: without it the others say little
	}
	return t.to.printer.CRD(crd)
}

// know asks the baseline.
func (t *tally) know(r *finding.Object) {
	if t.baseline != nil {
		t.baseline.know(r, t.options.StrictKinds)
	}
}

// omits counts a finding, and is true where it is one too many to print.
func (t *tally) omits() bool {
	t.findings++
	if most := t.options.MaxFindings; most == 0 || t.findings <= most {
		return false
	}
	t.summary.Omitted++
	return true
}

// take takes what this run decided.
func (t *tally) take(r *finding.Object) error {
	if r == nil {
		return batch.ErrStopped // the context is cancelled: the object was not decided
	}
	t.settle(r)
	if r.Source = t.options.Source; t.to.head != nil {
		t.seen.add(r)
	}
	if t.baseline != nil {
		t.baseline.see(r.Source, r.File)
	}
	if r.Template && r.File == t.template {
		return nil // said once
	}
	if r.Template {
		t.template = r.File
	}
	t.to.bar.Add(1)
	switch r.Verdict {
	case finding.Elsewhere:
		return nil
	case finding.Unselected:
		t.unselected++
		return nil
	}
	if t.tables != nil {
		t.tables.Add(r)
	}
	return t.object(r)
}

// settle drops the explanations of an object if they take too much of the work of the run.
func (t *tally) settle(r *finding.Object) {
	if r.Explained == 0 || t.checker.explained.Settle(r.Explained) {
		return
	}
	for i := range r.Causes {
		if c := &r.Causes[i]; c.Rule != "" && i < excerpt.Shown {
			c.Values, c.NotShown = nil, trace.NotShown
		}
	}
}

func (t *tally) object(r *finding.Object) error {
	t.know(r)
	t.count(r)
	if r.Verdict == finding.Ignored && !t.shows() {
		return nil
	}
	if r.Finding(t.options.StrictKinds) && t.omits() {
		return nil
	}
	if err := t.to.printer.Object(r); err != nil {
		return err
	}
	return t.to.flush()
}

func (t *tally) count(r *finding.Object) {
	t.summary.Count(r)
	if r.Bug != nil && t.bug == nil {
		t.bug = r.Bug
	}
}

func (t *tally) end(interrupted bool) error {
	s := &t.summary
	if s.Interrupted = interrupted; !interrupted {
		t.last()
	}
	if t.tables != nil {
		t.tables.Fill(s)
	}
	return t.to.printer.End(s)
}

// last is what is known when all is decided.
func (t *tally) last() {
	s := &t.summary
	if c := t.checker; c != nil {
		s.Vanished += c.olds.vanished()
		t.problems = append(t.problems, c.problems()...)
	}
	if t.baseline != nil {
		t.stale = append(t.stale, t.baseline.stale(t.options, t.checker != nil)...)
	}
	if t.options.Baseline != "" || len(t.stale) > 0 {
		if s.Baseline == nil {
			s.Baseline = &finding.BaselineSummary{}
		}
		s.Baseline.Stale = len(t.stale)
	}
	if t.to.head != nil {
		s.End = &finding.PartEnd{Documents: t.seen.documents, Input: t.seen.digest(), Unselected: t.unselected, Stale: t.stale}
		for _, problem := range t.problems {
			s.End.Problems = append(s.End.Problems, problem.Error())
		}
	}
}
