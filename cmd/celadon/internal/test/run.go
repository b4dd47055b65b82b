// Package test implements celadon test: it finds suites and their CRDs, runs them concurrently, and
// prints reports for people, scripts, and code review.
package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/rerun"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/ruletest"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

type run struct {
	command.Streams
	o        *Options
	crds     *definitions
	problems []error // unreadable files and failed updates
	edits    []fileEdits
	measures measures
	bug      error
}

// Run implements celadon test. The error determines the exit code.
func Run(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	if o.Watch {
		return rerun.Run(ctx, s, slices.Concat(paths, o.CRDs), func() error { return test(ctx, s, o, paths) })
	}
	return test(ctx, s, o, paths)
}

func test(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	defer gctuning.CollectSeldom(400, enoughMemory)()
	r := &run{Streams: s, o: o, crds: newDefinitions(paths, o.CRDs), measures: measures{Options: o, rec: coverage.New()}}
	var err error
	if r.crds.given, r.problems, err = readCRDs(ctx, s.Stdin, o.CRDs); err != nil {
		return err
	}
	suites, err := r.read(ctx, paths)
	if err != nil && ctx.Err() == nil {
		return err
	}
	bar := progress.On(s.Stderr, "testing", "suites")
	out, _ := bar.ReportWriter(s.Stdout)
	printers, err := reports.New(&o.Reports, o.Output, s.Stdout, out, o.newPrinter)
	if err != nil {
		return err
	}
	defer o.Reports.Discard()
	report := &Report{Kind: "TestReport", APIVersion: "celadon/v1", KubeVersion: o.KubeVersion, Suites: []*ruletest.SuiteReport{}}
	err = r.runAll(ctx, suites, func(one *ruletest.SuiteReport) error {
		bar.Add(1)
		report.Summary.Add(one)
		report.Suites = append(report.Suites, one)
		return printers.Each(func(p printer) error { return p.suite(one) })
	})
	bar.Done()
	report.Interrupted = ctx.Err() != nil
	if err != nil && !errors.Is(err, errEnough) && !report.Interrupted {
		return err
	}
	if err := r.write(report); err != nil {
		return err
	}
	unmeasured := r.measures.finish(ctx, s, report)
	if err := printers.End(func(p printer) error { return p.end(report) }); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if unmeasured != nil {
		return unmeasured
	}
	return r.verdict(report, paths)
}

// enoughMemory is the memory limit near which garbage is collected more often, because garbage may be a
// multiple of the live heap.
const enoughMemory = 1 << 30

type done struct {
	of     *readResult
	report *ruletest.SuiteReport
	text   []byte // the updated source after --update, or nil if it is unchanged
	errs   []error
}

var errEnough = errors.New("not all cases passed")

// runAll passes the reports to take in the order of suites.
func (r *run) runAll(ctx context.Context, suites []*readResult, take func(*ruletest.SuiteReport) error) error {
	cfg := ruletest.Config{
		Run: r.o.run, KubeVersion: r.o.KubeVersion, Exact: r.o.Exact, FailFast: r.o.FailFast && !r.o.Update, Fill: r.o.Update,
		Policies: r.crds.policies, Server: builtins.Alone(), Now: time.Now(),
	}
	var err error
	if cfg.Converter, err = r.o.Converter.Open(); err != nil {
		return err
	}
	r.measures.attach(&cfg)
	runner := ruletest.New(cfg)
	on := func(gate string) bool { return slices.Contains(r.o.gates, gate) }
	selected := slices.DeleteFunc(slices.Clone(suites), func(f *readResult) bool {
		return r.o.gates != nil && !allAs(f.suite.FeatureGates, on) || r.o.run != nil && !runner.Selects(f.suite)
	})
	work := func(f *readResult) done {
		crds, err := r.crds.find(f.suite)
		d := done{of: f, report: runner.Run(ctx, f.suite, crds, err)}
		if r.o.Update {
			d.update(ctx, runner, crds, err)
		}
		return d
	}
	return parallel.Each(ctx, selected, work, func(d done) error {
		r.edited(&d)
		r.measures.add(d.report)
		if err := take(d.report); err != nil {
			return err
		}
		for _, c := range d.report.Cases {
			if c.Bug != nil && r.bug == nil {
				r.bug = c.Bug
			}
			if r.o.FailFast && (c.Outcome == ruletest.Failed || c.Outcome == ruletest.Error) {
				return errEnough
			}
		}
		return nil
	})
}

// Unreadable files and suites that did not run take precedence over failed cases.
func (r *run) verdict(report *Report, paths []string) error {
	for _, problem := range slices.Concat(r.problems, r.crds.policyNotes()) {
		r.Complain(problem)
	}
	s := &report.Summary
	switch {
	case report.Interrupted:
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: the report covers only the cases that were run")}
	case r.bug != nil:
		return &command.ExitError{Code: command.Bug, Err: r.bug}
	case len(r.problems) > 0 || s.Errors > 0:
		return &command.ExitError{Code: command.Usage}
	case s.Ran() == 0:
		return &command.ExitError{Code: command.Usage, Err: errors.New(r.whyNone(s, paths))}
	case s.Failed > 0:
		return &command.ExitError{Code: command.Findings}
	}
	return r.measures.gate(report)
}

func (r *run) whyNone(s *ruletest.Summary, paths []string) string {
	switch {
	case s.Skipped > 0:
		return fmt.Sprintf("no case was run: %s skipped", phrase.Count(s.Skipped, "case"))
	case r.o.Run != "":
		return fmt.Sprintf("no case was run: --run %q matches no case", r.o.Run)
	case r.o.gates != nil:
		return "no case was run: no suite matches --feature-gates"
	}
	return "no suite in " + strings.Join(paths, ", ")
}

// update changes the suite to expect the actual results of its failed cases, and replaces the report by
// the report of the changed suite.
func (d *done) update(ctx context.Context, runner *ruletest.Runner, crds []*ruletest.CRD, unresolved error) {
	text, changed, errs := d.of.suite.Update(d.report)
	d.errs = errs
	if changed == 0 || ctx.Err() != nil {
		return
	}
	after := ruletest.Parse(d.of.suite.File, d.of.line, text)
	d.text, d.report = text, runner.Run(ctx, after, crds, unresolved)
}

type fileEdits struct {
	file  string
	edits []edit
}

type edit struct{ before, after []byte }

// The suites of a file follow each other.
func (r *run) edited(d *done) {
	for _, err := range d.errs {
		r.problems = append(r.problems, fmt.Errorf("--update: %w", err))
	}
	if d.text == nil || bytes.Equal(d.text, d.of.text) {
		return
	}
	file := d.of.suite.File
	if n := len(r.edits); n == 0 || r.edits[n-1].file != file {
		r.edits = append(r.edits, fileEdits{file: file})
	}
	last := &r.edits[len(r.edits)-1]
	last.edits = append(last.edits, edit{d.of.text, d.text})
}

func (r *run) write(report *Report) error {
	for _, of := range r.edits {
		if err := rewrite(of.file, of.edits); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
		report.Updated = append(report.Updated, of.file)
	}
	return nil
}

var errMoved = errors.New("the file has changed since it was read")

func rewrite(file string, edits []edit) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, rest := []byte(nil), data
	for _, e := range edits {
		i := bytes.Index(rest, e.before)
		if i < 0 {
			return fmt.Errorf("%s: %w", file, errMoved)
		}
		out = append(append(out, rest[:i]...), e.after...)
		rest = rest[i+len(e.before):]
	}
	return outfile.Replace(file, data, append(out, rest...))
}
