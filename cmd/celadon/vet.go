package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/crdfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/where"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/types"
)

// vetOptions are the flags of celadon vet.
type vetOptions struct {
	olds        []string
	kubeVersion string
	output      string
	explain     bool
	all         bool
	noLints     []string
	config      config.Flags
}

func (a *app) vetCommand() *cobra.Command {
	var o vetOptions
	cmd := &cobra.Command{
		Use:   "vet [--old CRD] CRD...",
		Short: "Vet CRDs: would the API server accept them, what do their rules cost, what would make them fit",
		Long: `Vet decides each CRD as the API server would on create, or on update where --old
has one of the same name, and shows what its rules may cost, why, and which bounds
make rules fit that cost too much. CRDs are files, folders or -; documents of other
kinds are passed over.

Without --kube-version it also tells the lowest Kubernetes version that accepts all
rules. Lints, each on a page of docs/lints.md, never change the verdict.

Exit codes: 0 all accepted, 1 some refused, 2 usage, unreadable input, no CRD, or a
CRD that asks for more work than is done (2 wins over 1), 130 interrupted.`,
		Example: `  celadon vet crd.yaml
  celadon vet --kube-version 1.30 config/crd/ -o json
  celadon vet --old released/ config/crd/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			crds, err := o.config.Defaults(cmd, a.stderr)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = crds
			}
			if len(args) == 0 {
				return fmt.Errorf("no CRDs given: want files, folders or - (see celadon vet --help)")
			}
			return a.vet(cmd.Context(), &o, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.olds, "old", nil, "CRDs as they were stored before: `PATH` of a file, a folder or - (repeatable)")
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `X.Y` to stand for (default the newest known); costs and texts stay those of the linked release")
	f.StringVarP(&o.output, "output", "o", "text", "report as text, json, sarif or github")
	f.BoolVar(&o.explain, "explain", false, "say of every rule why it costs what it does")
	f.BoolVar(&o.all, "all", false, "text: show every rule, not only the most expensive")
	f.StringArrayVar(&o.noLints, "no-lint", nil, "switch off a lint: `NAME` (repeatable)")
	o.config.Add(f)
	return cmd
}

// vetted is one CRD and its report.
type vetted struct {
	doc    *input.Document
	report *vet.Report
	// operation is create, or update where --old has the CRD.
	operation string
	// problem says why there is no report.
	problem error
	bug     bool
}

// vetter vets documents; it is safe for concurrent use.
type vetter struct {
	cfg  vet.Config
	olds map[string]*apiextensionsv1.CustomResourceDefinition
}

// vetSummary counts CRDs.
type vetSummary struct {
	CRDs        int  `json:"crds"`
	Accepted    int  `json:"accepted"`
	Refused     int  `json:"refused"`
	Unreadable  int  `json:"unreadable"`
	Undecided   int  `json:"undecided,omitempty"`
	Lints       int  `json:"lints"`
	Interrupted bool `json:"interrupted,omitempty"`

	bug error
}

// vetPrinter writes a report as CRDs are vetted.
type vetPrinter interface {
	crd(*vetted) error
	end(*vetSummary) error
}

// vet is the whole of celadon vet.
func (a *app) vet(ctx context.Context, o *vetOptions, paths []string) error {
	v, err := a.newVetter(ctx, o)
	if err != nil {
		return err
	}
	bar := progress.On(a.stderr, "vetting", "CRDs")
	out, _ := bar.Beside(a.stdout) // a CRD's report is written at once
	printer, err := a.vetPrinter(o, out)
	if err != nil {
		return err
	}
	sum := vetSummary{}
	err = sweep.Parallel(a.stdin, paths, func(doc *input.Document) *vetted { return v.vet(ctx, doc) }, func(one *vetted) error {
		switch {
		case ctx.Err() != nil:
			return sweep.ErrStopped
		case one == nil:
			return nil
		}
		bar.Add(1)
		sum.count(one)
		return printer.crd(one)
	}).Run(ctx)
	bar.Done()
	sum.Interrupted = ctx.Err() != nil
	if sum.Interrupted && (errors.Is(err, ctx.Err()) || errors.Is(err, sweep.ErrStopped)) {
		err = nil
	}
	if err == nil {
		err = printer.end(&sum)
	}
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return sum.verdict(paths)
}

func (s *vetSummary) count(one *vetted) {
	switch {
	case one.problem != nil:
		s.Unreadable++
		if one.bug && s.bug == nil {
			s.bug = one.problem
		}
		return
	case one.report.Accepted:
		s.Accepted++
	case one.undecided():
		s.Undecided++
	default:
		s.Refused++
	}
	s.CRDs++
	s.Lints += len(one.report.Lints)
}

func (s *vetSummary) verdict(paths []string) error {
	switch {
	case s.Interrupted:
		return &cli.ExitError{Code: cli.Interrupted, Err: fmt.Errorf("interrupted: the report is of the CRDs before")}
	case s.bug != nil:
		return &cli.ExitError{Code: cli.Bug, Err: s.bug}
	case s.Unreadable > 0 || s.Undecided > 0:
		return &cli.ExitError{Code: cli.Usage}
	case s.CRDs == 0:
		return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", "))}
	case s.Refused > 0:
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

func (a *app) newVetter(ctx context.Context, o *vetOptions) (*vetter, error) {
	if _, err := types.ParseVersion(o.kubeVersion); err != nil {
		return nil, fmt.Errorf("--kube-version: %w", err)
	}
	v := &vetter{
		cfg:  vet.Config{KubeVersion: o.kubeVersion, WithoutLints: o.noLints, Explain: o.explain},
		olds: map[string]*apiextensionsv1.CustomResourceDefinition{},
	}
	if err := v.cfg.Check(); err != nil {
		return nil, err
	}
	err := sweep.All(ctx, a.stdin, o.olds, crdfile.One, func(r crdfile.Read) error {
		switch {
		case r.Err != nil:
			return fmt.Errorf("--old: %s: %w", r.Place, r.Err)
		case r.CRD == nil:
		case v.olds[r.CRD.Name] != nil:
			return fmt.Errorf("--old: %s: %s is given twice: keep one", r.Place, r.CRD.Name)
		default:
			v.olds[r.CRD.Name] = r.CRD
		}
		return nil
	})
	return v, err
}

// vet is nil for a document that is no CRD.
func (v *vetter) vet(ctx context.Context, doc *input.Document) *vetted {
	one := &vetted{doc: doc, operation: "create"}
	data, err := doc.JSON()
	if err != nil {
		one.problem = err
		return one
	}
	if doc.Object["kind"] != "CustomResourceDefinition" {
		return nil
	}
	if doc.Object["apiVersion"] != crdfile.APIVersion {
		one.problem = fmt.Errorf("apiVersion %q: want %s", fmt.Sprint(doc.Object["apiVersion"]), crdfile.APIVersion)
		return one
	}
	cfg := v.cfg
	if cfg.Old = v.olds[report.Identify(doc.Object).Name]; cfg.Old != nil {
		one.operation = "update"
	}
	cfg.DuplicateKeys = doc.Duplicate
	one.report, one.problem = vet.Vet(ctx, data, cfg)
	one.bug = one.problem != nil
	return one
}

func (a *app) vetPrinter(o *vetOptions, to io.Writer) (vetPrinter, error) {
	v, err := types.ParseVersion(o.kubeVersion)
	if err != nil {
		return nil, err
	}
	out := foreign.NewWriter(to) // whatever the format, as report.New has it
	switch o.output {
	case "text":
		return a.newVetText(out, o.all), nil
	case "json":
		return &vetJSON{out: out, kubeVersion: v.String()}, nil
	case "github":
		return &vetGitHub{out: out}, nil
	case "sarif":
		return &vetSARIF{report.NewSARIF(out, cli.Version())}, nil
	}
	return nil, fmt.Errorf("--output %q: want text, json, sarif or github", o.output)
}

// String is the closing line.
func (s *vetSummary) String() string {
	text := fmt.Sprintf("%s vetted: %d accepted, %d refused", report.Plural(s.CRDs, "CRD"), s.Accepted, s.Refused)
	if s.Lints > 0 {
		text += "; " + report.Plural(s.Lints, "lint")
	}
	if s.Unreadable > 0 {
		text += fmt.Sprintf("; %d unreadable", s.Unreadable)
	}
	if s.Undecided > 0 {
		text += fmt.Sprintf("; %d undecided", s.Undecided)
	}
	if s.Interrupted {
		text += "; interrupted"
	}
	return text
}

// undecided is true where nothing but too much work keeps the CRD from being
// accepted.
func (one *vetted) undecided() bool {
	return one.report != nil && one.report.Undecided != nil && one.report.Status == nil
}

// strict are the fields that strict decoding refuses.
func (one *vetted) strict() []report.Place {
	if r := one.report; r.Status == nil || len(r.Causes) > 0 {
		return nil
	}
	return where.Strict(one.doc, one.report.Status.Message, &where.Excerpts{Doc: one.doc})
}

// places finds fields of the CRD in its file. The API server's fields name the
// schema that all versions share apart from them.
func (one *vetted) places(fields []string) []input.Position {
	mapped := make([]string, len(fields))
	for i, f := range fields {
		if rest, ok := strings.CutPrefix(f, "spec.validation."); ok {
			f = "spec.versions[0].schema." + rest
		}
		mapped[i] = f
	}
	return one.doc.Locate(mapped)
}
