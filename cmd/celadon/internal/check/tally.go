package check

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
)

// A tally counts and prints results in the order of the input.
type tally struct {
	options    *Options
	checker    *checker // nil for a merged report
	to         *destination
	baseline   *baseline // nil without a baseline
	summary    finding.Summary
	tables     *finding.Tables // nil unless requested
	findings   int
	objects    int // the findings that --max-findings limits
	unselected int
	problems   []error
	stale      []string
	seen       inputDigest
	bug        error
	template   string // the last file that is a template
	parts      partMessages
}

type partMessages struct {
	problems map[string]bool
	unclear  bool            // a part had a problem, which has been printed
	olds     map[string]bool // sources whose old objects are counted
}

func (r *runner) tally(ctx context.Context, o *Options, kubeVersion string) (*tally, error) {
	t := &tally{options: o}
	var err error
	if t.baseline, err = readBaseline(ctx, o, r.Complain); err != nil {
		return nil, err
	}
	if t.to, err = r.destination(o, kubeVersion); err != nil {
		return nil, err
	}
	if o.Summary {
		t.tables = finding.NewTables()
	}
	return t, nil
}

func (t *tally) reportCRDs(context.Context) error {
	if t.to.head != nil {
		t.to.head.CRDs = t.checker.digest()
	}
	if !t.options.NoVet {
		t.summary.CRDs = &finding.CRDSummary{}
	}
	for _, crd := range t.checker.CRDs.Verdicts {
		crd.Source = t.options.Source
		if err := t.crd(crd); err != nil {
			return err
		}
	}
	return t.to.flush()
}

func (t *tally) crd(crd *finding.CRD) error {
	t.bug = cmp.Or(t.bug, crd.Bug)
	if crd.Rejected() {
		o := crd.AsObject()
		t.markKnown(o)
		crd.Known = o.Known
	}
	t.summary.CountCRD(crd)
	if crd.Rejected() && !crd.Known {
		t.findings++ // always printed, because the other results depend on it
	}
	return t.to.printers.Each(func(p print.Printer) error { return p.CRD(crd) })
}

func (t *tally) markKnown(r *finding.Object) {
	if t.baseline != nil {
		t.baseline.markKnown(r, t.options.StrictKinds)
	}
}

// omits counts a finding and reports whether it exceeds the number of findings to print.
func (t *tally) omits() bool {
	t.findings++
	t.objects++
	if limit := t.options.MaxFindings; limit == 0 || t.objects <= limit {
		return false
	}
	t.summary.Omitted++
	return true
}

func (t *tally) take(r *finding.Object) error {
	if r == nil {
		return batch.ErrStopped // the context is canceled, so the object was not validated
	}
	t.checker.Settle(r)
	if r.Source = t.options.Source; t.to.head != nil {
		t.seen.add(r)
	}
	if t.baseline != nil {
		t.baseline.see(r.Source, r.File)
	}
	if r.Template && r.File == t.template {
		return nil // reported once
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

func (t *tally) object(r *finding.Object) error {
	t.markKnown(r)
	t.summary.Count(r)
	t.bug = cmp.Or(t.bug, r.Bug)
	if o := t.options; r.Verdict == finding.Ignored && !(o.Output == "text" && o.Verbose || t.to.head != nil) {
		return nil
	}
	if r.Finding(t.options.StrictKinds) && t.omits() {
		return nil
	}
	if err := t.to.object(r); err != nil {
		return err
	}
	return t.to.flush()
}

func (t *tally) printSummary(interrupted bool) error {
	s := &t.summary
	if s.Interrupted = interrupted; !interrupted {
		t.last()
	}
	if t.tables != nil {
		t.tables.Fill(s)
	}
	return t.to.printers.Each(func(p print.Printer) error { return p.End(s) })
}

func (t *tally) last() {
	s := &t.summary
	if c := t.checker; c != nil {
		counts, vanished := c.Olds.Count()
		s.Vanished += vanished
		c.CRDs.CountUnevaluated(c.Admission, s)
		// The text report of a shard would count only the shard's matches.
		if o := t.options; len(o.Olds) > 0 && (o.shard.Of <= 1 || o.reportsPart()) {
			s.Old = &counts
		}
		t.problems = slices.Concat(t.problems, c.policyProblems, c.Problems())
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

// A destination receives a report. Standard output is written as results arrive. A file gets its
// name only when it is complete.
type destination struct {
	printers       *reports.Printers[print.Printer]
	out            *bufio.Writer
	bar            *progress.Bar
	sharesTerminal bool          // the progress bar shares a terminal with the report
	file           *outfile.File // nil for standard output
	others         *reports.Files
	head           *finding.PartHead // nil unless the report is partial
}

func (r *runner) destination(o *Options, kubeVersion string) (d *destination, err error) {
	d = &destination{bar: progress.On(r.Stderr, "checking", "objects"), head: o.head(kubeVersion), others: &o.Reports}
	options := print.Options{
		KubeVersion: kubeVersion,
		StrictKinds: o.StrictKinds,
		Quiet:       o.Quiet,
		Verbose:     o.Verbose,
		Version:     command.Version(),
		Part:        d.head,
		Stderr:      r.Stderr,
	}
	other := options
	other.Part, other.Stderr = nil, io.Discard
	var to io.Writer
	if o.Out != "" {
		outfile.Clean(o.Out)
		if d.file, err = outfile.Create(o.Out); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
		to = d.file
	} else {
		to, d.sharesTerminal = d.bar.ReportWriter(r.Stdout)
		options.Color = command.Color(r.Stdout) && !o.Quiet
		if options.Width, _ = command.Width(r.Stdout); o.Quiet {
			options.Width = 0 // as kubectl does, without wrapping
		}
	}
	d.out = bufio.NewWriterSize(to, 64<<10)
	create := func(format string, terminal, to io.Writer) (print.Printer, error) {
		if terminal == io.Discard {
			return print.New(format, to, other)
		}
		return print.New(format, to, options)
	}
	if d.printers, err = reports.New(d.others, o.Output, r.Stdout, d.out, create); err != nil {
		d.discard()
		return nil, err
	}
	return d, nil
}

// object writes ignored documents only to the first report, on standard output or in --out.
func (d *destination) object(o *finding.Object) error {
	if o.Verdict == finding.Ignored {
		return d.printers.First().Object(o)
	}
	return d.printers.Each(func(p print.Printer) error { return p.Object(o) })
}

func (d *destination) flush() error {
	if !d.sharesTerminal {
		return nil
	}
	return d.out.Flush()
}

func (d *destination) commit() error {
	if err := d.others.Commit(); err != nil || d.file == nil {
		return err
	}
	file := d.file
	d.file = nil
	return file.Commit()
}

func (d *destination) discard() {
	d.others.Discard()
	if d.file != nil {
		d.file.Discard()
	}
}

func (r *runner) unwrapWrite(err error) error {
	var pathErr *os.PathError
	if f, ok := r.Stdout.(*os.File); ok && errors.As(err, &pathErr) && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}
