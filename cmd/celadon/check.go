package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:     "check --crd PATH... OBJECTS...",
		Short:   "Check objects against their CRDs, as the API server would on create or update",
		Long:    checkHelp,
		Example: checkExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := o.complete(cmd, args)
			if err != nil {
				return err
			}
			if o.watch {
				return a.watch(cmd.Context(), &o, paths)
			}
			return a.check(cmd.Context(), &o, paths)
		},
	}
	o.flags(cmd)
	return cmd
}

// check is the whole of one celadon check.
func (a *app) check(ctx context.Context, o *checkOptions, paths []string) error {
	defer collectLess(o)()
	progress := a.progress("checking", "objects")
	stdout, whole := progress.beside(a.stdout)
	out := bufio.NewWriterSize(stdout, 64<<10)
	printer, err := a.printer(o, out)
	if err != nil {
		return err
	}
	c, err := a.newChecker(ctx, o, paths)
	if err != nil && ctx.Err() == nil {
		return err
	}
	t := tally{checker: c, printer: printer, progress: progress, flush: func() error { return nil }}
	if whole {
		t.flush = out.Flush
	}
	if ctx.Err() == nil {
		err = t.run(ctx, a.stdin, paths, out)
	} else {
		err = nil // of what was interrupted
	}
	interrupted := ctx.Err() != nil
	if err == nil {
		err = t.end(interrupted)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("cannot write the report: %w", a.unwrapWrite(err))}
	}
	return a.verdict(&t, interrupted)
}

// enoughMemory is where garbage is no longer let grow: one hostile object can
// leave hundreds of megabytes of it.
const enoughMemory = 384 << 20

// collectLess lets garbage grow to a multiple of what lives, which is little
// unless all old objects do, up to a bound. It returns what undoes it.
func collectLess(o *checkOptions) func() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" || len(o.olds) > 0 || o.base != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(enoughMemory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// unwrapWrite drops the name of standard output from an error about it.
func (a *app) unwrapWrite(err error) error {
	var pathErr *os.PathError
	if f, ok := a.stdout.(*os.File); ok && errors.As(err, &pathErr) && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}

// tally counts and prints what was decided, in the order of the input.
type tally struct {
	checker  *checker
	printer  report.Printer
	flush    func() error // after each object
	progress *progress
	summary  report.Summary
	tables   *report.Tables // nil: not asked for
	findings int
	bug      error
}

var errStopped = errors.New("stopped")

// run decides all objects; what an interruption cuts short is no error.
func (t *tally) run(ctx context.Context, stdin io.Reader, paths []string, out *bufio.Writer) error {
	decide := func(doc *input.Document) *report.Object { return t.checker.decide(ctx, doc) }
	pipe := parallel(stdin, paths, decide, t.take)
	pipe.Idle = out.Flush
	err := pipe.Run(ctx)
	t.progress.done()
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, errStopped)) {
		return nil
	}
	return err
}

func (t *tally) take(r *report.Object) error {
	if r == nil {
		return errStopped // the context is cancelled: the object was not decided
	}
	t.progress.add(1)
	t.count(r)
	o := t.checker.options
	finding := r.Finding(o.strictKinds)
	if finding {
		t.findings++
		if o.maxFindings > 0 && t.findings > o.maxFindings {
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
	if t.checker.options.summary {
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

func (a *app) verdict(t *tally, interrupted bool) error {
	if interrupted {
		return &exitError{exitInterrupted, errors.New(report.Partial)}
	}
	problems := t.checker.problems()
	for _, problem := range problems {
		a.complain(problem)
	}
	s := &t.summary
	switch {
	case t.bug != nil:
		return &exitError{exitBug, t.bug}
	case len(problems) > 0 || s.Unreadable > 0 || s.Undecided > 0:
		return &exitError{code: exitUsage}
	case s.Checked == 0 && t.findings == 0:
		return &exitError{exitUsage, fmt.Errorf("not one object was checked%s", whyNone(s))}
	case t.findings > 0:
		return &exitError{code: exitFindings}
	}
	return nil
}

func whyNone(s *report.Summary) string {
	if s.Skipped > 0 {
		return fmt.Sprintf(": no CRD was given for %s", plural(s.Skipped, "object"))
	}
	return ": there is no object in what was given"
}

func plural(n int, noun string) string { return report.Plural(n, noun) }
