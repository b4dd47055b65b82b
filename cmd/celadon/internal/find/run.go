package find

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/crdfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// definition is one CRD that is asked about.
type definition struct {
	file string
	crd  *apiextensionsv1.CustomResourceDefinition
	// source is the document, descriptions included; a full sample shows them.
	source map[string]any
}

// Run is the whole of celadon find. A cancelled context ends it with what is
// known until then.
func Run(ctx context.Context, s cli.Streams, o *Options) error {
	crds, problems, err := read(ctx, s, o)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		s.Complain(problem)
	}
	switch {
	case len(crds) == 0 && len(problems) == 0:
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(o.CRDs, ", "))}
	case len(crds) == 0:
		return &cli.ExitError{Code: cli.Usage}
	}
	sum, err := report(ctx, s, o, crds)
	switch {
	case err != nil:
		return err
	case sum.Interrupted:
		return &cli.ExitError{Code: cli.Interrupted, Err: errors.New("interrupted: the report has what was known")}
	case len(problems) > 0 || sum.Unreadable > 0:
		return &cli.ExitError{Code: cli.Usage}
	case !sum.settled():
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

// read reads the CRDs, with their descriptions if they are to be shown.
func read(ctx context.Context, s cli.Streams, o *Options) (crds []*definition, problems []error, err error) {
	type one struct {
		definition
		err error
	}
	decode := func(doc *input.Document) *one {
		r := &one{definition: definition{file: doc.File}}
		if o.Full && doc.Object != nil {
			r.source = runtime.DeepCopyJSON(doc.Object)
		}
		if r.crd, r.err = crdfile.Decode(doc); r.err != nil {
			r.err = fmt.Errorf("%s: %w", doc.Place(), r.err)
		}
		return r
	}
	err = sweep.All(ctx, s.Stdin, o.CRDs, decode, func(r *one) error {
		switch {
		case r.err != nil:
			problems = append(problems, r.err)
		case r.crd != nil:
			crds = append(crds, &r.definition)
		}
		return nil
	})
	return crds, problems, err
}

// report asks all that the options say and writes the report.
func report(ctx context.Context, s cli.Streams, o *Options, crds []*definition) (*Summary, error) {
	bar := newTicker(progress.On(s.Stderr, "finding", "answers"))
	defer bar.done()
	out, _ := bar.bar.Beside(foreign.NewWriter(s.Stdout))
	all := &Report{Kind: "FindReport", APIVersion: "celadon/v1", Seed: o.Seed, CRDs: []*CRDPart{}}
	p := newPrinter(out, o)
	asked := false
	for _, crd := range crds {
		part, err := ask(ctx, o, crd, &all.Summary, bar.tick)
		if err != nil {
			s.Complain(fmt.Errorf("%s: %s: %w", crd.file, crd.crd.Name, err))
			all.Summary.Unreadable++
			continue
		}
		asked = asked || len(part.Versions) > 0
		all.CRDs = append(all.CRDs, part)
		if err := p.crd(part, crd); err != nil {
			return nil, err
		}
		if all.Summary.Interrupted = ctx.Err() != nil; all.Summary.Interrupted {
			break
		}
	}
	if !asked && !all.Summary.Interrupted && all.Summary.Unreadable == 0 {
		return nil, o.nothing()
	}
	return &all.Summary, p.end(all)
}

// ticker counts on a bar, which has one writer, what several workers do.
type ticker struct {
	bar   *progress.Bar
	ticks chan struct{}
	ended chan struct{}
}

func newTicker(bar *progress.Bar) *ticker {
	t := &ticker{bar, make(chan struct{}, 64), make(chan struct{})}
	go func() {
		defer close(t.ended)
		for range t.ticks {
			bar.Add(1)
		}
	}()
	return t
}

func (t *ticker) tick() { t.ticks <- struct{}{} }

func (t *ticker) done() {
	close(t.ticks)
	<-t.ended
	t.bar.Done()
}
