// Package check is what is behind celadon check: it decides objects by their
// CRDs and reports on each.
package check

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/rounds"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/internal/phrase"
)

// run is one celadon check.
type run struct{ cli.Streams }

// Run is the whole of celadon check: of o and what stands at the paths it
// writes a report. Its error carries the exit code.
func Run(ctx context.Context, s cli.Streams, o *Options, paths []string) error {
	if err := o.Check(paths); err != nil {
		return err
	}
	a := &run{s}
	if o.Pipe {
		return a.pipe(ctx, o)
	}
	if o.Watch {
		watched := slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds)
		return rounds.Run(ctx, s, watched, func() error { return a.check(ctx, o, paths) })
	}
	return a.check(ctx, o, paths)
}

func (a *run) check(ctx context.Context, o *Options, paths []string) error {
	defer collectLess(o)()
	bar := progress.On(a.Stderr, "checking", "objects")
	stdout, whole := bar.Beside(a.Stdout)
	out := bufio.NewWriterSize(stdout, 64<<10)
	client, err := a.connect(ctx, o)
	if err != nil && ctx.Err() == nil {
		return err
	}
	printer, err := a.printer(o, out)
	if err != nil {
		return err
	}
	c, err := a.newChecker(ctx, o, paths, client)
	if err != nil && ctx.Err() == nil {
		return err
	}
	t := tally{checker: c, printer: printer, bar: bar, flush: func() error { return nil }}
	if whole {
		t.flush = out.Flush
	}
	err = nil // or that of what was interrupted
	if ctx.Err() == nil {
		err = t.judged()
	}
	if ctx.Err() == nil && err == nil {
		err = t.run(ctx, out)
	}
	interrupted := ctx.Err() != nil
	if err == nil {
		err = t.end(interrupted)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("cannot write the report: %w", a.unwrapWrite(err))}
	}
	return a.verdict(&t, interrupted)
}

// enoughMemory is where garbage is no longer let grow: one hostile object can
// leave hundreds of megabytes of it.
const enoughMemory = 384 << 20

// collectLess lets garbage grow to a multiple of what lives, which is little
// unless all old objects do, up to a bound. It returns what undoes it.
func collectLess(o *Options) func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || len(o.Olds) > 0 || o.Base != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(enoughMemory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// files are the objects that stand at the paths.
func (a *run) files(o *Options, paths []string) sweep.Source {
	from := o.selection()
	from.Linked = func(path string) {
		a.Complain(fmt.Errorf("%s: a link to a folder is not followed: name it to check it", path))
	}
	return func(wait func(), yield func(input.Chunk) bool) { from.Scan(a.Stdin, paths, wait, yield) }
}

// unwrapWrite drops the name of standard output from an error about it.
func (a *run) unwrapWrite(err error) error {
	var pathErr *os.PathError
	if f, ok := a.Stdout.(*os.File); ok && errors.As(err, &pathErr) && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}

// tally counts and prints what was decided, in the order of the input.
type tally struct {
	checker  *checker
	printer  report.Printer
	flush    func() error // after each object
	bar      *progress.Bar
	summary  report.Summary
	tables   *report.Tables // nil: not asked for
	findings int
	// unselected counts the objects that were not asked for.
	unselected int
	bug        error
	template   string // the last file that is one
}

// shows is true where the report tells of what is no object.
func (t *tally) shows() bool {
	return t.checker.options.Output == "text" && t.checker.options.Verbose
}

// run decides all objects; what an interruption cuts short is no error.
func (t *tally) run(ctx context.Context, out *bufio.Writer) error {
	decide := func(doc *input.Document) *report.Object { return t.checker.decide(ctx, doc) }
	pipe := sweep.From(t.checker.source, decide, t.take)
	pipe.Idle = out.Flush
	err := pipe.Run(ctx)
	t.bar.Done()
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, sweep.ErrStopped)) {
		return nil
	}
	return err
}

// judged tells of the CRDs.
func (t *tally) judged() error {
	o := t.checker.options
	if !o.NoVet {
		t.summary.CRDs = &report.CRDSummary{}
	}
	for _, crd := range t.checker.crds.reports {
		switch {
		case crd.Bug != nil:
			t.bug = cmp.Or(t.bug, crd.Bug)
		case crd.Undecided:
			t.summary.CRDs.Undecided++
		case crd.Accepted:
			t.summary.CRDs.Accepted++
		default:
			t.summary.CRDs.Refused++
			if t.findings++; o.MaxFindings > 0 && t.findings > o.MaxFindings {
				t.summary.Omitted++
				continue
			}
		}
		if err := t.printer.CRD(crd); err != nil {
			return err
		}
	}
	return t.flush()
}

func (t *tally) take(r *report.Object) error {
	if r == nil {
		return sweep.ErrStopped // the context is cancelled: the object was not decided
	}
	if r.Template && r.File == t.template {
		return nil // said once
	}
	if r.Template {
		t.template = r.File
	}
	t.bar.Add(1)
	if r.Verdict == report.Unselected {
		t.unselected++
		return nil
	}
	t.count(r)
	if r.Verdict == report.Ignored && !t.shows() {
		return nil
	}
	o := t.checker.options
	finding := r.Finding(o.StrictKinds)
	if finding {
		t.findings++
		if o.MaxFindings > 0 && t.findings > o.MaxFindings {
			t.summary.Omitted++
			return nil
		}
	}
	if err := t.printer.Object(r); err != nil {
		return err
	}
	return t.flush()
}

func (t *tally) count(r *report.Object) {
	s := &t.summary
	switch r.Verdict {
	case report.Valid:
		s.Checked++
		s.Valid++
	case report.Invalid:
		s.Checked++
		s.Invalid++
	case report.Skipped:
		s.Skipped++
	case report.Unreadable:
		s.Unreadable++
	case report.Undecided:
		s.Undecided++
	case report.Ignored:
		s.Ignored++
	}
	if r.Upgrade != nil {
		if s.Upgrade == nil {
			s.Upgrade = &report.UpgradeSummary{}
		}
		s.Upgrade.Add(r.Upgrade)
	}
	if r.Bug != nil && t.bug == nil {
		t.bug = r.Bug
	}
	if t.checker.options.Summary {
		if t.tables == nil {
			t.tables = report.NewTables()
		}
		t.tables.Add(r)
	}
}

func (t *tally) end(interrupted bool) error {
	t.summary.Interrupted = interrupted
	if !interrupted {
		t.summary.Vanished = t.checker.olds.vanished()
	}
	if t.tables != nil {
		t.tables.Fill(&t.summary)
	}
	return t.printer.End(&t.summary)
}

func (a *run) verdict(t *tally, interrupted bool) error {
	if interrupted {
		return &cli.ExitError{Code: cli.Interrupted, Err: errors.New(report.Partial)}
	}
	problems := t.checker.problems()
	for _, problem := range problems {
		a.Complain(problem)
	}
	s := &t.summary
	switch {
	case t.bug != nil:
		return &cli.ExitError{Code: cli.Bug, Err: t.bug}
	case len(problems) > 0 || s.Unreadable > 0 || s.Undecided > 0 || s.CRDs != nil && s.CRDs.Undecided > 0:
		return &cli.ExitError{Code: cli.Usage}
	case s.Checked == 0 && t.findings == 0:
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("not one object was checked%s", t.whyNone())}
	case t.findings > 0:
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

func (t *tally) whyNone() string {
	s := &t.summary
	if s.Skipped > 0 {
		return fmt.Sprintf(": no CRD was given for %s", phrase.Count(s.Skipped, "object"))
	}
	if t.unselected > 0 {
		return fmt.Sprintf(": --field-selector chooses none of %s", phrase.Count(t.unselected, "object"))
	}
	text := ": there is no object in what was given"
	if s.Ignored > 0 {
		text += fmt.Sprintf(" (%s ignored)", phrase.Count(s.Ignored, "document"))
	}
	return text
}
