// Package vet implements celadon vet. It reads CRDs and admission policies, validates them with engine/vet
// and policyvet, and writes reports for people, scripts, and code-review pages.
package vet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

type vetted struct {
	doc    *input.Document
	report *vet.Report
	// lints are the lints of the report or, with --find, the results of lint.Find.
	lints []lint.Lint
	// data is the CRD as JSON, for hints. kubeVersions holds the version of the verdict and, if all listed
	// versions must accept the CRD, the oldest of them.
	data         []byte
	kubeVersions []string
	// operation is "update" if --old has the CRD, otherwise "create".
	operation string
	// kept lists the fields of the stored CRD that kubectl apply keeps.
	kept []string
	// problem is the reason why report is nil, or an internal error or that of a canceled context, for which
	// bug is set.
	problem error
	bug     bool
	// limited is set if --find did not search for all lints.
	limited *lint.LimitError
	fix     string
	// decisive is set if all versions in report.KubeVersions must accept the CRD.
	decisive bool
	// source maps the CRD's rules to Go markers; nil if no Go packages were given.
	source *markervet.CRD
	// isPolicy is set if the document is an admission policy or another document with expressions, which are vetted
	// after all CRDs.
	isPolicy bool
	// other is set if the document is of a kind that is not vetted.
	other *unvetted
	// compact is the CRD without descriptions, as JSON, for vetting policies.
	compact []byte
}

// Run vets the CRDs and policies in paths and writes the report. Its error carries the exit code.
func Run(ctx context.Context, streams command.Streams, o *Options, paths []string) error {
	var sum summary
	var run *goRun // nil without Go packages
	dirs, err := goPatterns(paths)
	switch {
	case err != nil:
		return err
	case len(dirs) > 0:
		if run, paths, err = o.goRun(dirs, &sum); err != nil {
			return err
		}
		defer run.src.close()
	case len(o.CRDs) > 0:
		return errors.New("--crd is only for Go packages, such as ./api/...: name the CRDs to vet as arguments")
	}
	if fix, err := o.fixes(paths); err != nil || fix {
		if err == nil {
			err = runFix(ctx, streams, o, paths)
		}
		return err
	}
	v, err := newVetter(ctx, streams, o)
	if err != nil {
		return err
	}
	bar := progress.On(streams.Stderr, "vetting", "CRDs")
	out, _ := bar.ReportWriter(streams.Stdout) // a CRD's report is written with a single call
	printers, err := reports.New(&o.Reports, o.Output, streams.Stdout, out, o.printer)
	defer o.Reports.Discard()
	if err != nil {
		return err
	}
	filter := resource.NewFilter(paths)
	policies, others := policyVetter{vetter: v, options: o}, otherKinds{}
	if v.oldCount > 0 {
		sum.Old = &oldSummary{CRDs: v.oldCount}
	}
	source, vet := resource.Files(streams.Stdin, paths), v.foundAll(ctx, paths, filter)
	if run != nil {
		source, vet = batch.Files(streams.Stdin, paths), v.found(ctx, filter)
		if text, ok := printers.First().(*textPrinter); ok {
			run.width = text.width
		}
	}
	err = batch.From(source, vet, func(one *vetted) error {
		switch {
		case ctx.Err() != nil:
			return batch.ErrStopped
		case one == nil:
			return nil
		case one.other != nil:
			others.add(one)
			return nil
		}
		for _, note := range tagged(one.doc) {
			streams.Complain(note)
		}
		if policies.keep(one); one.isPolicy {
			return nil
		}
		bar.Add(1)
		sum.count(one)
		if one.limited != nil {
			streams.Complain(fmt.Errorf("%s: %w", one.doc.Location(), one.limited))
		}
		if len(one.kept) > 0 {
			streams.Complain(finding.Kept(one.doc.Location(), one.kept))
		}
		if run != nil {
			run.add(one)
			return nil
		}
		return printers.Each(func(p printer) error { return p.crd(one) })
	}).Run(ctx)
	if err == nil {
		err = policies.run(ctx, &sum, printers)
	}
	bar.Done()
	sum.Interrupted = ctx.Err() != nil
	if sum.Interrupted && (errors.Is(err, ctx.Err()) || errors.Is(err, batch.ErrStopped)) {
		err = nil
	}
	sum.others = others
	if err == nil && run != nil {
		run.end()
		err = printers.Each(func(p printer) error { return p.golang(run) })
	}
	if err == nil {
		err = printers.End(func(p printer) error { return p.end(&sum) })
	}
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	for _, note := range append(filter.Notes(), others.notes()...) {
		streams.Complain(note)
	}
	return sum.verdict(paths)
}

// tagged returns notes about expressions that YAML accepts without their first character, because it
// reads ! and a space as a tag. The expression then lacks its first negation.
func tagged(doc *input.Document) (notes []error) {
	source, number, inList := doc.Source()
	if inList && doc.Item > 0 { // the source is the whole List
		return nil
	}
	for line := range bytes.Lines(source) {
		if expression, quoted, reason := decode.Misread(strings.TrimRight(string(line), "\r\n")); strings.HasPrefix(expression, "! ") {
			notes = append(notes, fmt.Errorf("%s:%d: YAML reads the expression as %s, and leaves it out: quote it: %s", doc.File, number, reason, quoted))
		}
		number++
	}
	return notes
}

// vetter vets documents. It is safe for concurrent use.
type vetter struct {
	cfg vet.Config
	// find is nil unless --find is set.
	find     *lint.Config
	olds     *catalog.Catalog
	oldCount int
	fix      string
	builtins Builtins // or nil
	complain func(error)
}

func newVetter(ctx context.Context, streams command.Streams, o *Options) (*vetter, error) {
	cfg, err := o.vetConfig()
	if err != nil {
		return nil, err
	}
	v := &vetter{cfg: cfg, fix: o.Fix, builtins: o.Builtins, complain: streams.Complain, olds: catalog.New(catalog.Config{Lazy: true})}
	if o.Find {
		v.find = &lint.Config{KubeVersion: cfg.KubeVersion, Without: o.NoLints}
	}
	var locations []string
	var crds []*apiextensionsv1.CustomResourceDefinition
	err = batch.From(resource.Files(streams.Stdin, o.Olds), readOld, func(r oldRead) error {
		if r.err != nil {
			return fmt.Errorf("--old: %s: %w", r.location, r.err)
		}
		if r.crd != nil {
			locations, crds = append(locations, r.location), append(crds, r.crd)
		}
		return nil
	}).Run(ctx)
	if v.oldCount = len(crds); err == nil && v.oldCount == 0 && len(o.Olds) > 0 {
		err = fmt.Errorf("--old: no CustomResourceDefinition in %s", strings.Join(o.Olds, ", "))
	}
	var errs *catalog.Errors
	if err == nil && errors.As(v.olds.Apply(crds, nil), &errs) {
		again := errs.Errors[0]
		for _, e := range errs.Errors {
			if e.Name == again.Name {
				again = e
			}
		}
		err = fmt.Errorf("--old: %s: %s is %w", locations[again.Index], again.Name, again.Err)
	}
	return v, err
}

// crd is nil for a document of another kind.
type oldRead struct {
	location string
	crd      *apiextensionsv1.CustomResourceDefinition
	err      error
}

func readOld(doc *input.Document) oldRead {
	crd, err := resource.Decode(doc)
	return oldRead{doc.Location(), crd, err}
}

func (v *vetter) old(name string) *apiextensionsv1.CustomResourceDefinition {
	if e := v.olds.Named(name); e != nil {
		return e.CRD
	}
	return nil
}

func (v *vetter) found(ctx context.Context, filter *resource.Filter) func(*input.Document) *vetted {
	return func(doc *input.Document) *vetted {
		if filter.Ignores(doc) {
			return nil
		}
		return v.vet(ctx, doc)
	}
}

// vet returns nil if the document is not a CRD.
func (v *vetter) vet(ctx context.Context, doc *input.Document) *vetted {
	one := &vetted{doc: doc, operation: "create", fix: v.fix, decisive: v.cfg.AdviseAll}
	data, err := doc.JSON()
	if err != nil {
		one.problem = err
		return one
	}
	if doc.Object["kind"] != "CustomResourceDefinition" {
		return nil
	}
	if doc.Object["apiVersion"] != resource.APIVersion && !resource.Beta(doc) {
		one.problem = fmt.Errorf("apiVersion %q: want %s", fmt.Sprint(doc.Object["apiVersion"]), resource.APIVersion)
		return one
	}
	cfg := v.cfg
	if cfg.Old = v.old(doc.Identity().Name); cfg.Old != nil {
		one.operation = "update"
		var applied []byte
		if applied, one.kept = resource.Applied(doc, cfg.Old); applied != nil {
			data = applied
		}
	}
	cfg.DuplicateKeys = doc.Duplicate
	one.report, one.problem = vet.Vet(ctx, data, cfg)
	if one.problem == nil {
		if one.data, one.kubeVersions = data, []string{cfg.KubeVersion}; cfg.AdviseAll && len(cfg.KubeVersions) > 0 {
			one.kubeVersions = append(one.kubeVersions, cfg.KubeVersions[0])
		}
		one.lints, one.problem = v.lints(ctx, doc, one.report)
	}
	if errors.As(one.problem, &one.limited) {
		one.problem = nil
	}
	one.bug = one.problem != nil
	return one
}

func (v *vetter) lints(ctx context.Context, doc *input.Document, r *vet.Report) ([]lint.Lint, error) {
	if v.find == nil {
		return lint.Of(r), nil
	}
	crd, err := resource.DecodeCompact(doc)
	if err != nil || crd == nil {
		return lint.Of(r), nil // the report has the error
	}
	return lint.Find(ctx, crd.ForEngine(), r, *v.find)
}

func (one *vetted) names(list string) (names []string) {
	spec, _ := one.doc.Object["spec"].(map[string]any)
	all, _ := spec["names"].(map[string]any)
	items, _ := all[list].([]any)
	for _, item := range items {
		if name, ok := item.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

func (one *vetted) undecided() bool {
	return one.report != nil && one.report.Undecided != nil && one.report.Status == nil
}
