package find

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type definition struct {
	file string
	crd  *apiextensionsv1.CustomResourceDefinition
	// builtins is set if the CRD describes built-in kinds, and holds them by version.
	builtins map[string]*policyrequest.Builtin
	// subresource is set if the CRD describes the objects of a subresource.
	subresource *policyrequest.Subresource
}

// A search creates much garbage next to a small live heap. It may grow to a multiple of the live heap, up
// to enoughMemory in bytes.
const (
	garbagePercent = 400
	enoughMemory   = 384 << 20
)

// Run implements celadon find. If ctx is done, the report has the results so far.
func Run(ctx context.Context, s command.Streams, o *Options) error {
	defer gctuning.CollectSeldom(garbagePercent, enoughMemory)()
	crds, broken, err := read(ctx, s, o)
	if err != nil {
		return err
	}
	p, invalid, err := readPolicies(ctx, s, o)
	if err != nil {
		return err
	}
	broken = broken || invalid
	all := crds
	if crds, err = p.asked(o.Server, all); err != nil {
		return err
	}
	if err := p.assume(ctx, s, o, slices.Concat(all, crds)); err != nil {
		return err
	}
	bar := newTicker(s)
	sum, err := report(ctx, s, o, p, crds, bar, bar.tick)
	bar.bar.Done()
	switch {
	case err != nil:
		return err
	case sum.Interrupted:
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: the report is incomplete")}
	case sum.Undecided > 0:
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%s unanswered: the work budget is used up: select fewer rules with --at and --rule", phrase.Count(sum.Undecided, "question"))}
	case broken || sum.Unreadable > 0:
		return &command.ExitError{Code: command.Usage}
	case !sum.settled():
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

func read(ctx context.Context, s command.Streams, o *Options) (crds []*definition, broken bool, err error) {
	if len(o.CRDs) == 0 {
		return nil, false, nil
	}
	return resource.All(ctx, s, o.CRDs, func(doc *input.Document) (*definition, error) {
		crd, err := resource.DecodeCompact(doc)
		if crd == nil || err != nil {
			return nil, err
		}
		return &definition{file: doc.File, crd: crd.ForEngine()}, nil
	})
}

// report runs all searches that the options select and writes the report. It calls step after each search.
func report(ctx context.Context, s command.Streams, o *Options, policies *bothPolicies, crds []*definition, out io.Writer, step func()) (*Summary, error) {
	all := &Report{Kind: "FindReport", APIVersion: "celadon/v1", Seed: o.Seed, CRDs: []*CRDPart{}}
	p := newPrinter(untrusted.NewWriter(out), s.Stdout, o)
	if len(o.OldPolicies) > 0 {
		all.Summary.Policies = &PolicySummary{}
	}
	if policies != nil {
		all.Assumed = policies.assumed
	}
	var known selectable
	selected := false
	if policies != nil {
		policies.crds = len(crds)
	}
	type answered struct {
		part *CRDPart // nil if the run was interrupted before the CRD's turn
		err  error
	}
	// The questions about a CRD also run in parallel, because there may be only one CRD. After an interruption, the
	// report has the results so far.
	asked, stop := context.WithCancel(ctx)
	defer stop()
	ask := func(crd *definition) (a answered) {
		if asked.Err() == nil {
			a.part, a.err = answerCRD(asked, o, policies, crd, step)
		}
		return a
	}
	err := parallel.Each(context.WithoutCancel(ctx), crds, ask, func(a answered) error {
		switch {
		case a.err != nil:
			s.Complain(fmt.Errorf("%s: %s: %w", a.part.File, a.part.Name, a.err))
			all.Summary.Unreadable++
			return nil
		case a.part == nil:
			return nil
		}
		known.versions, known.rules = append(known.versions, a.part.known.versions...), append(known.rules, a.part.known.rules...)
		selected = selected || len(a.part.Versions) > 0
		all.CRDs = append(all.CRDs, a.part)
		all.Summary.add(a.part)
		return p.crd(a.part)
	})
	if err != nil {
		return nil, err
	}
	all.Summary.Interrupted = ctx.Err() != nil
	if !selected && !all.Summary.Interrupted && all.Summary.Unreadable == 0 {
		if policies != nil {
			return nil, errNoPolicyMatches
		}
		return nil, o.nothing(&known)
	}
	if policies != nil && all.Summary.Policies != nil && !all.Summary.Interrupted {
		all.addUnmatched(policies)
	}
	return &all.Summary, p.end(all)
}

// A ticker counts the progress of several workers on a bar. The report and the bar may share a terminal.
type ticker struct {
	mu  sync.Mutex
	bar *progress.Bar
	out io.Writer
}

func newTicker(s command.Streams) *ticker {
	t := &ticker{bar: progress.On(s.Stderr, "finding", "answers")}
	t.out, _ = t.bar.ReportWriter(s.Stdout) // the report of a CRD is a single write
	return t
}

func (t *ticker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bar.Add(1)
}

func (t *ticker) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(text)
}
