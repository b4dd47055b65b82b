package vet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

// runGo runs celadon vet on Go packages, such as ./api/...
func runGo(ctx context.Context, streams command.Streams, o *Options, dirs []string) error {
	if o.Fix {
		return errors.New("--fix: generated CRDs are fixed in their Go types: do not name Go packages")
	}
	var open closers
	defer open.close()
	g, err := readGo(dirs, &open, nil)
	if err != nil {
		return err
	}
	paths := o.CRDs
	if len(paths) == 0 {
		folders, err := g.tree.CRDFolders()
		if err != nil {
			return fmt.Errorf("%w: use --crd with the CRDs generated from these packages (celadon-gen generates them if there are none)", err)
		}
		for _, dir := range folders {
			paths = append(paths, g.name(dir))
		}
	}
	v, err := newVetter(ctx, streams, o)
	if err != nil {
		return err
	}
	p, err := o.goPrinter(streams.Stdout)
	if err != nil {
		return err
	}
	run := &goRun{src: g, without: o.NoLints, excerpt: p.excerpt()}
	bar := progress.On(streams.Stderr, "vetting", "CRDs")
	err = batch.Parallel(streams.Stdin, paths, v.found(ctx, resource.NewFilter(paths)), func(one *vetted) error {
		switch {
		case ctx.Err() != nil:
			return batch.ErrStopped
		case one != nil:
			bar.Add(1)
			run.add(one)
		}
		return nil
	}).Run(ctx)
	bar.Done()
	run.sum.Interrupted = ctx.Err() != nil
	if err != nil && !run.sum.Interrupted {
		return err
	}
	if err := p.report(run.end()); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return run.sum.verdict(paths)
}

// goRun collects the CRDs of a run and their Go sources.
type goRun struct {
	src     *goSource
	without []string
	excerpt int

	sum      summary
	crds     []*vetted
	mapped   []*markervet.CRD
	of       []int // for each of mapped: its index in crds
	unread   []goFinding
	findings []goFinding
}

// goFinding is a finding with its locations.
type goFinding struct {
	crdFinding
	of    string
	paths []markervet.ObjectPath
	write string // a marker to add above the position, or ""
}

// add maps a CRD to Go.
func (r *goRun) add(one *vetted) {
	crd, err := resource.DecodeCompact(one.doc)
	r.sum.count(one)
	r.crds = append(r.crds, one)
	if one.report == nil || err != nil || crd == nil {
		for _, f := range one.findings() { // no Go source is known
			r.unread = append(r.unread, goFinding{crdFinding: f})
		}
		return
	}
	one.source = markervet.New(r.src.Source, crd.ForEngine(), one.report, one.lints, shown)
	r.mapped = append(r.mapped, one.source)
	r.of = append(r.of, len(r.crds)-1)
}

// end collects all findings and counts.
func (r *goRun) end() *goRun {
	r.cannotRead()
	for _, f := range markervet.Find(r.src.Source, r.mapped, r.without) {
		g := goFinding{of: f.Of, paths: f.Paths, write: f.Write, crdFinding: crdFinding{
			id: f.ID, description: f.Description, message: f.Message, rule: f.Rule, shown: f.Shown, level: f.Level, kind: f.Kind, lint: f.Lint,
			at: finding.Location{File: f.File, Line: f.Position.Line, Column: f.Column, Field: f.Of + " " + f.Rule},
		}}
		if f.Position.Line > 0 {
			g.at.Excerpt = finding.NewExcerpt(f.Line, f.Column-1, len(f.Line), r.excerpt, nil)
		} else {
			g.at = r.crds[r.of[f.CRD]].inFile(f.Field, r.excerpt)
		}
		r.findings = append(r.findings, g)
	}
	r.sum.Go = r.count()
	r.findings = append(r.unread, r.findings...)
	r.sum.Lints = 0
	for _, f := range r.findings {
		if f.level == markervet.Warning && f.id != "warning" {
			r.sum.Lints++
		}
	}
	return r
}

// inFile returns the position of a field in the CRD's file, or that of the CRD.
func (one *vetted) inFile(field string, width int) finding.Location {
	at := one.inYAML([]string{field}, width)[0]
	if at.Line == 0 {
		at = finding.Location{File: one.doc.File, Line: one.doc.Line, Field: field}
	}
	return at
}

// cannotRead reports Go files that cannot be parsed, and missing packages that rules need.
func (r *goRun) cannotRead() {
	add := func(at finding.Location, text string) {
		r.sum.Unreadable++
		r.unread = append(r.unread, goFinding{crdFinding: crdFinding{id: "unreadable", description: "An unreadable file", level: "error", message: text, at: at}})
	}
	for _, p := range r.src.Problems() {
		add(finding.Location{File: p.File, Line: p.Line, Column: p.Column}, p.Message)
	}
	for _, b := range r.src.tree.Bad() {
		add(finding.Location{File: b.Name}, b.Err.Error())
	}
	said := map[string]bool{}
	for i, m := range r.mapped {
		for _, rule := range m.Map().Rules {
			if err := r.src.Missing(rule.Missing); err != nil && !said[rule.Missing] {
				said[rule.Missing] = true
				add(r.crds[r.of[i]].inFile(rule.Field, r.excerpt), fmt.Sprintf("package %s, whose types have this rule: %v", rule.Missing, err))
			}
		}
	}
}

// goSummary counts files, markers, and mapped rules.
type goSummary struct {
	Files   int `json:"files"`
	Markers int `json:"markers"`
	Rules   int `json:"rules"`
	// Mapped counts rules with a marker, Ambiguous those with several.
	Mapped    int `json:"mapped"`
	Ambiguous int `json:"ambiguous,omitempty"`
	// Undeclared counts CRDs whose kind the packages do not declare.
	Undeclared int `json:"foreign,omitempty"`
}

func (r *goRun) count() *goSummary {
	s := &goSummary{Files: r.src.files, Markers: len(r.src.Markers())}
	for _, m := range r.mapped {
		if !m.Map().Rooted {
			s.Undeclared++
			continue
		}
		for _, rule := range m.Map().Rules {
			s.Rules++
			if rule.Marker != nil {
				s.Mapped++
			}
			if len(rule.Others) > 0 {
				s.Ambiguous++
			}
		}
	}
	return s
}

// goPrinter writes the report of a goRun.
type goPrinter interface {
	report(*goRun) error
	// excerpt returns the width of excerpts; 0 is the default.
	excerpt() int
}

func (o *Options) goPrinter(to io.Writer) (goPrinter, error) {
	p, err := o.printer(to, to)
	if err != nil {
		return nil, err
	}
	switch p := p.(type) {
	case *textPrinter:
		return goText{p}, nil
	case *listPrinter:
		if o.Output != "junit" {
			return goList{p}, nil
		}
	}
	return goEach{p}, nil
}
