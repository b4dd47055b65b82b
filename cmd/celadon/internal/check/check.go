// Package check is what is behind celadon check: it decides objects by their
// CRDs and reports on each.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/rounds"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/internal/phrase"
	"github.com/celadon-cel/celadon/types"
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
	client, err := a.connect(ctx, o)
	if err != nil && ctx.Err() == nil {
		return err
	}
	v, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return err
	}
	t, err := a.tally(ctx, o, v.String())
	if err != nil {
		return err
	}
	defer t.to.discard()
	if t.checker, err = a.newChecker(ctx, o, paths, client); err != nil && ctx.Err() == nil {
		return err
	}
	err = nil // or that of what was interrupted
	if ctx.Err() == nil {
		err = t.judged()
	}
	if ctx.Err() == nil && err == nil {
		err = t.run(ctx)
	}
	return a.end(ctx, t, err)
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

// tally counts and prints what was decided, in the order of the input.
type tally struct {
	options  *Options
	checker  *checker // nil where others decided
	to       *destination
	baseline *baseline // nil: none was asked for
	summary  report.Summary
	tables   *report.Tables // nil: not asked for
	findings int
	// unselected counts the objects that were not asked for.
	unselected int
	problems   []error // with what was to be decided, or to decide it by
	told       map[string]bool
	unclear    bool // told before
	stale      []string
	seen       seen
	bug        error
	template   string // the last file that is one
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
	if !o.NoVet {
		t.summary.CRDs = &report.CRDSummary{}
	}
	if o.Summary {
		t.tables = report.NewTables()
	}
	return t, nil
}

// shows is true where the report tells of what is no object.
func (t *tally) shows() bool {
	return t.options.Output == "text" && t.options.Verbose || t.to.head != nil
}

// run decides all objects; what an interruption cuts short is no error.
func (t *tally) run(ctx context.Context) error {
	decide := func(doc *input.Document) *report.Object { return t.checker.decide(ctx, doc) }
	pipe := sweep.From(t.options.sharded(t.checker.source, t.checker.crds), decide, t.take)
	pipe.Idle = t.to.out.Flush
	err := pipe.Run(ctx)
	t.to.bar.Done()
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, sweep.ErrStopped)) {
		return nil
	}
	return err
}

// judged tells of the CRDs.
func (t *tally) judged() error {
	if t.to.head != nil {
		t.to.head.CRDs = t.checker.digest()
	}
	for _, crd := range t.checker.crds.reports {
		crd.Source = t.options.Source
		if err := t.crd(crd); err != nil {
			return err
		}
	}
	return t.to.flush()
}

func (t *tally) crd(crd *report.CRD) error {
	if crd.Bug != nil {
		t.bug = cmp.Or(t.bug, crd.Bug)
	}
	if crd.Refused() {
		o := crd.AsObject()
		t.know(o)
		crd.Known = o.Known
	}
	t.summary.CountCRD(crd)
	if crd.Refused() && !crd.Known && t.omits() {
		return nil
	}
	return t.to.printer.CRD(crd)
}

// know asks the baseline.
func (t *tally) know(r *report.Object) {
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
func (t *tally) take(r *report.Object) error {
	if r == nil {
		return sweep.ErrStopped // the context is cancelled: the object was not decided
	}
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
	case report.Elsewhere:
		return nil
	case report.Unselected:
		t.unselected++
		return nil
	}
	if t.tables != nil {
		t.tables.Add(r)
	}
	return t.object(r)
}

func (t *tally) object(r *report.Object) error {
	t.know(r)
	t.count(r)
	if r.Verdict == report.Ignored && !t.shows() {
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

func (t *tally) count(r *report.Object) {
	t.summary.Count(r)
	if r.Bug != nil && t.bug == nil {
		t.bug = r.Bug
	}
}

// end ends the report and says how it went. An error is one of writing, or of what
// was read in place of objects.
func (a *run) end(ctx context.Context, t *tally, err error) error {
	interrupted := ctx.Err() != nil
	if err == nil {
		err = t.end(interrupted)
	}
	if err == nil {
		err = t.to.out.Flush()
	}
	var exit *cli.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	if err == nil && !interrupted {
		err = t.to.commit()
	}
	if err != nil {
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("cannot write the report: %w", a.unwrapWrite(err))}
	}
	if interrupted {
		return &cli.ExitError{Code: cli.Interrupted, Err: errors.New(report.Partial)}
	}
	return a.verdict(t)
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
		t.stale = append(t.stale, t.baseline.stale(t.options)...)
	}
	if t.options.Baseline != "" || len(t.stale) > 0 {
		if s.Baseline == nil {
			s.Baseline = &report.BaselineSummary{}
		}
		s.Baseline.Stale = len(t.stale)
	}
	if t.to.head != nil {
		s.End = &report.PartEnd{Documents: t.seen.documents, Input: t.seen.digest(), Unselected: t.unselected, Stale: t.stale}
		for _, problem := range t.problems {
			s.End.Problems = append(s.End.Problems, problem.Error())
		}
	}
}

func (a *run) verdict(t *tally) error {
	for _, problem := range t.problems {
		a.Complain(problem)
	}
	a.tellStale(t)
	s := &t.summary
	unclear := t.unclear || len(t.problems) > 0 || s.Unreadable > 0 || s.Undecided > 0 || len(s.Missing) > 0 || s.CRDs != nil && s.CRDs.Undecided > 0
	switch {
	case t.bug != nil:
		return &cli.ExitError{Code: cli.Bug, Err: t.bug}
	case unclear:
		return &cli.ExitError{Code: cli.Usage}
	case s.Checked == 0 && t.findings == 0 && (s.Baseline == nil || s.Baseline.Known == 0) && t.options.shard.Of <= 1:
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("not one object was checked%s", t.whyNone())}
	case t.options.BaselineOut != "":
		return a.writeBaseline(t)
	case t.findings > 0 && t.options.FindingsExitCode != cli.OK:
		return &cli.ExitError{Code: t.options.FindingsExitCode}
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
