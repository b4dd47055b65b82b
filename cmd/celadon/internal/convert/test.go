package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/progress"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/engine/conversion/roundtrip"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// Outputs are the forms of a report.
var Outputs = []string{"text", "json"}

// TestOptions are the flags of celadon convert test.
type TestOptions struct {
	CRDs      []string
	Converter converter.OrCommand
	Objects   int
	Seed      uint64
	Ignore    []string
	CasesOut  string
	Output    string
	Config    config.Flags
}

// Flags adds the flags to a set.
func (o *TestOptions) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "CRDs: `PATH` of a file, a folder or - (repeatable)")
	o.Converter.Add(f)
	f.IntVar(&o.Objects, "objects", roundtrip.DefaultObjects, "how many objects are made, in all versions together")
	f.Uint64Var(&o.Seed, "seed", 1, "choose other objects")
	f.StringArrayVar(&o.Ignore, "ignore", nil, "what may come back as another: a `PATH` as spec.hosts[*].name, with all below (repeatable)")
	f.StringVar(&o.CasesOut, "cases-out", "", "write what was found as suites for celadon test into `DIR`")
	f.StringVarP(&o.Output, "output", "o", "text", "report as "+strings.Join(Outputs, ", "))
	o.Config.Section = "convert-test"
	o.Config.Add(f)
}

// Check says what is wrong with the flags.
func (o *TestOptions) Check() error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: want --crd PATH")
	case o.Objects <= 0:
		return fmt.Errorf("--objects %d: want 1 or more", o.Objects)
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, strings.Join(Outputs, ", "))
	}
	for _, path := range o.Ignore {
		if _, err := engine.ParsePath(path); err != nil || path == "" {
			return fmt.Errorf("--ignore %q: want a path as spec.hosts[*].name", path)
		}
	}
	return nil
}

// Test is the whole of celadon convert test.
func Test(ctx context.Context, s cli.Streams, o *TestOptions) error {
	ask, err := o.Converter.Open()
	if err != nil {
		return err
	}
	crds, err := read(ctx, s.Stdin, o.CRDs)
	if err != nil {
		return err
	}
	r := &Report{Kind: "ConvertReport", APIVersion: "celadon/v1", Seed: o.Seed, CRDs: []*CRD{}}
	bar := progress.On(s.Stderr, "converting", "CRDs")
	for _, c := range crds {
		if versions(c.crd) < 2 {
			r.Summary.Single++
			continue
		}
		made, err := o.one(ctx, c.crd, ask)
		if err == nil {
			r.add(c, made)
			bar.Add(1)
			continue
		}
		bar.Done()
		var bug *engine.InternalError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &bug):
			return &cli.ExitError{Code: cli.Bug, Err: fmt.Errorf("%s: %w", c.file, err)}
		}
		return fmt.Errorf("%s:%d: %s: %w", c.file, c.line, c.crd.Name, unanswered(err))
	}
	bar.Done()
	if len(r.CRDs) == 0 {
		return fmt.Errorf("no CRD in %s has two versions: there is nothing to convert", strings.Join(o.CRDs, ", "))
	}
	if o.CasesOut != "" {
		if err := writeCases(s, o, r); err != nil {
			return err
		}
	}
	if err := r.print(foreign.NewWriter(s.Stdout), o); err != nil {
		return err
	}
	if r.Summary.Findings > 0 {
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

func (o *TestOptions) one(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, ask engine.Converter) (*roundtrip.Report, error) {
	if ask == nil {
		if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
			return nil, errors.New("the CRD converts by a webhook: want --convert URL or --exec COMMAND")
		}
		ask = conversion.None()
	}
	return roundtrip.Test(ctx, crd, ask, roundtrip.Config{Seed: o.Seed, Objects: o.Objects, Slow: o.Converter.Timeout, Ignore: o.Ignore})
}

// versions is how many a client or the storage can hold.
func versions(crd *apiextensionsv1.CustomResourceDefinition) (n int) {
	for _, v := range crd.Spec.Versions {
		if v.Served || v.Storage {
			n++
		}
	}
	return n
}
