// Package check implements celadon check: it validates objects as an API server would and reports the results.
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/rerun"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type runner struct{ command.Streams }

// Run implements celadon check: it checks the objects at paths and writes a report. Findings are a
// *command.ExitError, unless --findings-exit-code is 0 or a baseline is written.
func Run(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	if err := o.Check(paths); err != nil {
		return err
	}
	r := &runner{s}
	if o.Watch {
		watched := slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds, o.policy.paths, o.Kustomize, o.Charts)
		return rerun.Run(ctx, s, watched, func() error { return r.check(ctx, o, paths) })
	}
	return r.check(ctx, o, paths)
}

func (r *runner) check(ctx context.Context, o *Options, paths []string) error {
	defer collectLess(o)()
	client, err := o.Cluster.Connect(ctx, r.Complain, &o.KubeVersion)
	if err != nil && ctx.Err() == nil {
		return err
	}
	v, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return err
	}
	if err := o.render(ctx); err != nil {
		return err
	}
	t, err := r.tally(ctx, o, v.String())
	if err != nil {
		return err
	}
	defer t.to.discard()
	if t.checker, err = r.newChecker(ctx, o, paths, client); err != nil && ctx.Err() == nil {
		return err
	}
	err = nil // an interruption is not an error
	if ctx.Err() == nil {
		err = t.reportAll(ctx)
	}
	return r.finish(ctx, t, err)
}

// enoughMemory is the memory limit in bytes near which Go collects more often: a malicious object can leave
// hundreds of megabytes of garbage.
const enoughMemory = 384 << 20

// collectLess adjusts garbage collection and returns a function that restores it. The live heap is
// usually small, so garbage may grow to a multiple of it, up to enoughMemory. With old objects, the
// live heap is large, so the default stays. In a shard with old objects, garbage is kept low
// instead, because a pod has little memory, and byte slices are cheap to scan.
func collectLess(o *Options) func() {
	switch olds := len(o.Olds) > 0 || o.Base != ""; {
	case olds && o.shard.Of <= 1:
		return func() {}
	case olds:
		return gctuning.CollectSeldom(50, enoughMemory)
	}
	return gctuning.CollectSeldom(200, enoughMemory)
}

func (r *runner) files(o *Options, paths []string) batch.Source {
	from := o.selection()
	from.Linked = func(path string) {
		r.Complain(fmt.Errorf("%s: links to folders are not followed: name it as an argument to check it", path))
	}
	return o.withRendered(o.adjusted(batch.Selected(from, r.Stdin, paths)))
}

// reportAll reports the CRDs first if a report is text or partial, because the other findings depend on theirs. An
// interruption is not an error.
func (t *tally) reportAll(ctx context.Context) error {
	steps := []func(context.Context) error{t.reportObjects, t.reportCRDs}
	if t.options.Output == "text" || t.options.Reports.Has("text") || t.options.reportsPart() {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		err := step(ctx)
		if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err()) || errors.Is(err, batch.ErrStopped)) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tally) reportObjects(ctx context.Context) error {
	decide := func(doc *input.Document) *finding.Object { return t.checker.Decide(ctx, doc) }
	pipe := batch.From(t.checker.source, decide, t.take)
	pipe.Idle = t.to.out.Flush
	err := pipe.Run(ctx)
	t.to.bar.Done()
	return err
}

// finish completes the report. err is an error of reading or writing.
func (r *runner) finish(ctx context.Context, t *tally, err error) error {
	interrupted := ctx.Err() != nil
	if err == nil {
		err = t.printSummary(interrupted)
	}
	if err == nil {
		err = t.to.out.Flush()
	}
	var exit *command.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	if err == nil && !interrupted {
		err = t.to.commit()
	}
	if err != nil {
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("cannot write the report: %w", r.unwrapWrite(err))}
	}
	if interrupted {
		return &command.ExitError{Code: command.Interrupted, Err: errors.New(print.Partial)}
	}
	return r.exit(t)
}

// exit prints the messages that are not part of the report, and writes the baseline, if requested.
func (r *runner) exit(t *tally) error {
	for _, problem := range t.problems {
		if !t.reported(problem) {
			r.Complain(problem)
		}
	}
	if t.checker != nil {
		for _, note := range slices.CompactFunc(t.checker.Notes(), func(a, b error) bool { return a.Error() == b.Error() }) {
			r.Complain(note)
		}
	}
	r.listStale(t)
	s := &t.summary
	unclear := t.parts.unclear || len(t.problems) > 0 || s.Unreadable > 0 || s.Undecided > 0 || len(s.Missing) > 0 || s.CRDs != nil && s.CRDs.Undecided > 0
	switch {
	case t.bug != nil:
		return &command.ExitError{Code: command.Bug, Err: t.bug}
	case unclear:
		if help := t.whyUnclear(); help != "" {
			r.Complain(errors.New(help))
		}
		return &command.ExitError{Code: command.Usage}
	case s.Checked == 0 && t.findings == 0 && (s.Baseline == nil || s.Baseline.Known == 0) && !t.options.partial():
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no object was checked%s", t.whyNone())}
	case s.Old != nil && s.Old.Matched == 0 && t.options.Subresource == "" && !t.options.partial():
		err := fmt.Errorf("--old: no object has the kind and name of any of %s", phrase.Count(s.Old.Given, "old object"))
		return &command.ExitError{Code: command.Usage, Err: err}
	case t.options.BaselineOut != "":
		return r.writeBaseline(t)
	case t.findings > 0 && t.options.FindingsExitCode != command.OK:
		return &command.ExitError{Code: t.options.FindingsExitCode}
	}
	return nil
}

// reported reports whether a problem is a rule that does not compile, and the findings about CRDs include it: a
// CRD was rejected, and no finding is known.
func (t *tally) reported(problem error) bool {
	var broken *verdict.BrokenRule
	s := &t.summary
	return errors.As(problem, &broken) && s.CRDs != nil && s.CRDs.Rejected > 0 && (s.Baseline == nil || s.Baseline.Known == 0)
}

func (t *tally) whyUnclear() string {
	s := &t.summary
	if t.checker == nil || s.Checked > 0 || s.Skipped+s.Undecided == 0 || s.Unreadable == 0 {
		return ""
	}
	return "no object was checked: skip the unreadable files with --exclude GLOB, or name the CRDs with --crd PATH"
}

func (t *tally) whyNone() string {
	s := &t.summary
	if s.Skipped > 0 && (t.options.policy.operation == verdict.Connect || slices.Contains(policyrequest.Sent, t.options.Subresource)) {
		const words = ": such requests have other objects (%s skipped), such as a PodExecOptions for exec or an Eviction for eviction"
		return fmt.Sprintf(words, phrase.Count(s.Skipped, "object"))
	}
	if s.Skipped > 0 && t.options.Subresource != "" {
		return fmt.Sprintf(": no old object or no CRD was given for %s: use --old PATH and --crd PATH", phrase.Count(s.Skipped, "object"))
	}
	const onlyCRDs = ": the input has only CRDs: name objects, or check the CRDs with celadon vet"
	hasCRDs := t.checker != nil && len(t.checker.CRDs.Namespaced()) > 0
	switch {
	case s.Skipped > 0 && s.SkippedKinds["CustomResourceDefinition.apiextensions.k8s.io"] == s.Skipped:
		return onlyCRDs
	case s.Skipped > 0 && hasCRDs:
		return fmt.Sprintf(": none of the CRDs is that of %s: use --crd PATH", phrase.Count(s.Skipped, "object"))
	case s.Skipped > 0:
		return fmt.Sprintf(": no CRD was given for %s: use --crd PATH", phrase.Count(s.Skipped, "object"))
	case hasCRDs && len(t.options.CRDs) == 0:
		return onlyCRDs
	}
	if t.unselected > 0 {
		return fmt.Sprintf(": --field-selector matches none of %s", phrase.Count(t.unselected, "object"))
	}
	text := ": the input has no objects"
	if s.Ignored > 0 {
		text += fmt.Sprintf(" (%s ignored)", phrase.Count(s.Ignored, "document"))
	}
	return text
}
