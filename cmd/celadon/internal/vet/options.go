package vet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
	"github.com/celadon-cel/celadon/x/markers"
)

// Options holds the flags of celadon vet.
type Options struct {
	// Builtins, if not nil, validates the files of kube-apiserver, and objects of built-in kinds.
	Builtins    Builtins
	CRDs, Olds  []string
	KubeVersion string
	Output      string
	Reports     reports.Files
	Explain     bool
	All         bool
	Quiet       bool
	Find        bool
	Fix         string // certain, suggested, or ""
	DryRun      bool
	NoLints     []string
	Config      config.Flags
}

// Outputs returns the values of --output.
func Outputs() []string { return append([]string{"text", "json"}, print.Lists()...) }

// KubeVersions returns the values of --kube-version, newest first.
func KubeVersions() (list []string) {
	for minor := types.Last; minor >= types.Oldest; minor-- {
		list = append(list, types.Version{Minor: minor}.String())
	}
	return list
}

// Flags adds the flags to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "with Go packages (./api/...): read the generated CRDs from `PATH`: a file, a folder, or - (repeatable; default config/crd, manifests, payload-manifests)")
	f.StringArrayVar(&o.Olds, "old", nil, "read the stored CRDs that an update replaces from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate, a list of versions and ranges (1.33,1.35-1.37), or all (default: the newest supported)")
	o.Reports.Flag(f, &o.Output, Outputs())
	f.BoolVar(&o.Explain, "explain", false, "explain the cost of every rule")
	f.BoolVar(&o.All, "all", false, "in text: show every rule, not only the most expensive ones")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "print only errors: in text only the output of kubectl, in other formats no warnings, lints, and advice")
	f.BoolVar(&o.Find, "find", false, "also search for objects on which a rule fails to evaluate, and for proofs that a rule rejects nothing (takes seconds per CRD)")
	f.StringVar(&o.Fix, "fix", "", "set the suggested bounds and correct certain mistakes in the files and show the changes, with =suggested also mistakes that can mean something else; with --find, also guard rules that fail (see docs/vet.md)")
	f.Lookup("fix").NoOptDefVal = certain
	f.BoolVar(&o.DryRun, "dry-run", false, "with --fix: write nothing; exit with 1 if there is something to fix")
	f.StringArrayVar(&o.NoLints, "no-lint", nil, "disable the lint `NAME` (repeatable)")
	o.Config.Arguments = "crds"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output", "explain", "all", "find")
	config.Stricter.Set(f, "kube-version")
}

func (o *Options) vetConfig() (vet.Config, error) {
	cfg := vet.Config{Explain: o.Explain, Beta: true}
	if err := o.versions(&cfg); err != nil {
		return cfg, err
	}
	for _, name := range o.NoLints {
		switch {
		case slices.Contains(vet.LintNames(), name):
			cfg.WithoutLints = append(cfg.WithoutLints, name)
		case !slices.Contains(LintNames(), name):
			return cfg, fmt.Errorf("--no-lint %q: want one of %s", name, strings.Join(LintNames(), ", "))
		}
	}
	if o.Quiet && (o.Output == "json" || o.All || o.Explain) {
		return cfg, errors.New("--quiet: prints only errors: do not set -o json, --all, or --explain")
	}
	return cfg, cfg.Check()
}

// LintNames returns the values of --no-lint.
func LintNames() []string {
	names := slices.Concat(vet.LintNames(), lint.Names(), markers.LintNames(), policyvet.LintNames())
	slices.Sort(names)
	return slices.Compact(names) // some are for rules and for policies
}

type printer interface {
	crd(*vetted) error
	policy(*vettedPolicy) error
	golang(*goRun) error
	end(*summary) error
}

// The width and colors of text depend on terminal.
func (o *Options) printer(format string, terminal, to io.Writer) (printer, error) {
	cfg, err := o.vetConfig()
	if err != nil {
		return nil, err
	}
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	out := untrusted.NewWriter(to) // for every format, as in print.New
	switch format {
	case "text":
		return newText(terminal, out, o), nil
	case "json":
		return &jsonPrinter{out: out, kubeVersion: v.String()}, nil
	}
	if list := print.NewList(format, out, "celadon vet", command.Version()); list != nil {
		return &listPrinter{list, format == "junit", o.Quiet}, nil
	}
	return nil, fmt.Errorf("--output %q: want %s", format, phrase.Or(Outputs()))
}

// Reviewer vets documents that are open in an editor. It is safe for concurrent use.
type Reviewer struct{ v *vetter }

// NewReviewer returns a Reviewer. Options for output are ignored.
func NewReviewer(ctx context.Context, o *Options) (*Reviewer, error) {
	v, err := newVetter(ctx, command.Streams{}, o)
	if err == nil {
		v.cfg.KubeVersions = nil // an editor shows a single version
	}
	return &Reviewer{v}, err
}

// Reviewed is the result of vetting a document.
type Reviewed struct {
	Doc *input.Document
	// Report is nil if the document could not be vetted; Findings then holds the reason.
	Report   *vet.Report
	Findings []finding.Finding
	one      *vetted
}

// Vet vets a document. It returns nil if the document is not a CRD. The error is ctx's or an
// internal error.
func (d *Reviewer) Vet(ctx context.Context, doc *input.Document) (*Reviewed, error) {
	one := d.v.vet(ctx, doc)
	switch {
	case one == nil:
		return nil, nil
	case one.bug:
		return nil, one.problem
	}
	return &Reviewed{doc, one.report, one.findings(0), one}, nil
}

// Fixes returns the changes that celadon vet --fix would make, or nil without a report.
func (r *Reviewed) Fixes() *fix.Vetted {
	if r.Report == nil {
		return nil
	}
	return r.one.fixes()
}

// JSON returns the CRD's part of -o json, with positions.
func (r *Reviewed) JSON() CRDReport { return newCRDReport(r.one) }

// Rejection returns the error that kubectl prints, or "" if the server does not reject the CRD.
func (r *Reviewed) Rejection() string {
	if r.Report == nil || r.Report.Status == nil {
		return ""
	}
	return string(print.KubectlError(r.one.kubectl(0)))
}

// Text vets the CRDs in a text for all versions of o.KubeVersion, and returns the report in the format
// o.Output. The error is ctx.Err(), an invalid option, or an internal error.
func Text(ctx context.Context, text input.Text, o *Options) (crds []*Reviewed, report []byte, err error) {
	d, err := NewReviewer(ctx, o)
	if err == nil {
		err = o.versions(&d.v.cfg)
	}
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	var sum summary
	p, err := o.printer(o.Output, nil, &out)
	for doc := range text.Documents {
		if err != nil || ctx.Err() != nil {
			break
		}
		var r *Reviewed
		if r, err = d.Vet(ctx, doc); r != nil && err == nil {
			crds = append(crds, r)
			sum.count(r.one)
			err = p.crd(r.one)
		}
	}
	if err = cmp.Or(err, ctx.Err()); err == nil {
		err = p.end(&sum)
	}
	return crds, out.Bytes(), err
}
