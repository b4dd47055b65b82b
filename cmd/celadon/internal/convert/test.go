package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// Outputs lists the values of --output.
var Outputs = []string{"text", "json"}

// TestOptions holds the flags of celadon convert test.
type TestOptions struct {
	CRDs      []string
	Converter converter.OrCommand
	Objects   int
	Seed      uint64
	Ignore    []string
	Output    string
	Config    config.Flags
}

// Flags adds the flags to f.
func (o *TestOptions) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	o.Converter.Add(f)
	f.IntVar(&o.Objects, "objects", roundtrip.DefaultObjects, "number of generated objects, over all versions")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the generator")
	f.StringArrayVar(&o.Ignore, "ignore", nil, "ignore changes at and below `PATH`, such as spec.hosts[*].name (repeatable)")
	f.StringVarP(&o.Output, "output", "o", "text", "report format: "+phrase.Or(Outputs))
	o.Config.Section = "convert-test"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output")
	config.Never.Set(f, "objects")
}

// Check returns an error if the flags are invalid.
func (o *TestOptions) Check() error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: use --crd PATH")
	case o.Objects <= 0:
		return fmt.Errorf("--objects %d: want 1 or more", o.Objects)
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Outputs))
	}
	for _, path := range o.Ignore {
		if _, err := engine.ParsePath(path); err != nil || path == "" {
			return fmt.Errorf("--ignore %q: want a path such as spec.hosts[*].name", path)
		}
	}
	return nil
}

// Test implements celadon convert test.
func Test(ctx context.Context, s command.Streams, o *TestOptions) error {
	converter, err := o.Converter.Open()
	if err != nil {
		return err
	}
	crds, broken, err := read(ctx, s, o.CRDs)
	if err != nil {
		return err
	}
	r := &Report{Kind: "ConvertReport", APIVersion: "celadon/v1", Seed: o.Seed, CRDs: []*CRD{}}
	bar := progress.On(s.Stderr, "converting", "objects")
	var problems []error
	for _, c := range crds {
		if versions(c.crd) < 2 {
			r.Summary.Single++
			continue
		}
		made, err := o.testCRD(ctx, s, c.crd, converter, len(crds) == 1, bar)
		if made != nil {
			r.add(c, made)
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %s: %w", c.file, c.line, c.crd.Name, unanswered(err)))
		}
	}
	bar.Done()
	if len(r.CRDs) > 0 {
		err = r.print(untrusted.NewWriter(s.Stdout), o)
	}
	for _, problem := range problems {
		s.Complain(problem)
	}
	var bug *engine.InternalError
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(errors.Join(problems...), &bug):
		return &command.ExitError{Code: command.Bug}
	case broken || len(problems) > 0:
		return &command.ExitError{Code: command.Usage}
	case len(r.CRDs) == 0:
		return fmt.Errorf("no CRD in %s has two versions, so there is nothing to convert", strings.Join(o.CRDs, ", "))
	case r.Summary.Findings > 0:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

// parallel is the number of objects that are converted at the same time. A program converts objects that wait at the
// same time in one run.
const parallel = 64

// testCRD tests a CRD. If it fails, the report contains the findings before the error. The converter is
// used for CRDs with a webhook. If lone is set, it is also used for a CRD without a conversion
// strategy, because a tool may add the strategy later.
func (o *TestOptions) testCRD(ctx context.Context, s command.Streams, crd *apiextensionsv1.CustomResourceDefinition, converter engine.Converter, lone bool, bar *progress.Bar) (*roundtrip.Report, error) {
	c := crd.Spec.Conversion
	switch webhook := c != nil && c.Strategy == apiextensionsv1.WebhookConverter; {
	case webhook && converter == nil:
		return nil, errors.New("the CRD converts with a webhook: use --convert URL or --exec COMMAND")
	case webhook:
	case converter != nil && c == nil && lone:
		untrusted.Fprintf(s.Stderr, "%s: the CRD has no spec.conversion: assuming conversion by a webhook\n", crd.Name)
	default:
		if converter != nil {
			untrusted.Fprintf(s.Stderr, "%s: the CRD does not convert by a webhook: the converter is not called\n", crd.Name)
		}
		converter = conversion.None()
	}
	return roundtrip.Test(ctx, crd, converter, roundtrip.Config{
		Seed: o.Seed, Objects: o.Objects, Ignore: o.Ignore, Parallel: parallel, Done: func() { bar.Add(1) },
	})
}

func versions(crd *apiextensionsv1.CustomResourceDefinition) (n int) {
	for _, v := range crd.Spec.Versions {
		if v.Served || v.Storage {
			n++
		}
	}
	return n
}

// Report is the result of celadon convert test. -o json prints it.
type Report struct {
	Kind       string  `json:"kind"`
	APIVersion string  `json:"apiVersion"`
	Seed       uint64  `json:"seed"`
	Summary    Summary `json:"summary"`
	CRDs       []*CRD  `json:"crds"`
}

// Summary holds the counts of a report.
type Summary struct {
	CRDs     int `json:"crds"`
	Trips    int `json:"trips"`
	Findings int `json:"findings"`
	// Single counts the CRDs with one version, which were not tested.
	Single int `json:"single,omitempty"`
}

// CRD holds the results for a CRD.
type CRD struct {
	File     string               `json:"file"`
	Line     int                  `json:"line"`
	Name     string               `json:"name"`
	Pairs    []roundtrip.Pair     `json:"pairs"`
	Findings []*roundtrip.Finding `json:"findings"`
	More     bool                 `json:"more,omitempty"`
}

func (r *Report) add(of *definition, made *roundtrip.Report) {
	findings := append([]*roundtrip.Finding{}, made.Findings...)
	c := &CRD{File: of.file, Line: of.line, Name: of.crd.Name, Pairs: made.Pairs, Findings: findings, More: made.More}
	r.CRDs = append(r.CRDs, c)
	r.Summary.CRDs++
	r.Summary.Trips += made.Objects()
	r.Summary.Findings += len(c.Findings)
}

func (r *Report) print(out io.Writer, o *TestOptions) error {
	if o.Output == "json" {
		return print.JSON(out, r)
	}
	var b strings.Builder
	for _, c := range r.CRDs {
		if err := c.print(&b); err != nil {
			return err
		}
	}
	if r.Summary.Single > 0 {
		fmt.Fprintf(&b, "%s with one version: nothing to convert\n", phrase.Count(r.Summary.Single, "CRD"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (c *CRD) print(b *strings.Builder) error {
	for _, f := range c.Findings {
		untrusted.Fprintf(b, "%s: %s, %s to %s and back, %s: %s\n", c.Name, f.Kind, f.From, f.To, phrase.Count(f.Times, "object"), f.Text)
		data, err := untrusted.YAML(f.Object)
		if err != nil {
			return err
		}
		b.WriteString(resource.Indent(string(data), "    ") + "\n")
		if f.Change != nil {
			untrusted.Fprintf(b, "    # and in %s: %s\n", f.To, f.Change.String())
		}
	}
	if len(c.Findings) > 0 {
		b.WriteString("\n")
	}
	trips := (&roundtrip.Report{Pairs: c.Pairs}).Objects()
	said := "no findings"
	if n := len(c.Findings); n > 0 {
		said = phrase.Count(n, "finding")
	}
	untrusted.Fprintf(b, "%s: %s in %s between %s\n", c.Name, said, phrase.Count(trips, "round trip"), c.between())
	if c.More {
		fmt.Fprintf(b, "  only the first findings are shown\n")
	}
	return nil
}

func (c *CRD) between() string {
	var names []string
	for _, p := range c.Pairs {
		names = append(names, p.From)
	}
	names = slices.Compact(names)
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + " and " + names[end]
}
