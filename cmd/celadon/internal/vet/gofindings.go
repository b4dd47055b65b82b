package vet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

func (o *Options) goRun(dirs []string, sum *summary) (*goRun, []string, error) {
	if o.Fix != "" {
		return nil, nil, errors.New("--fix: generated CRDs are fixed in their Go types: do not name Go packages")
	}
	g, err := readGo(dirs, nil)
	if err != nil {
		return nil, nil, err
	}
	paths := o.CRDs
	if len(paths) == 0 {
		if paths, err = g.crdFolders(); err != nil {
			g.close()
			return nil, nil, fmt.Errorf("%w: use --crd with the CRDs generated from these packages (controller-gen generates them)", err)
		}
	}
	return &goRun{src: g, without: o.NoLints, sum: sum}, paths, nil
}

type goRun struct {
	src     *goSource
	without []string
	width   int // of excerpts

	sum      *summary
	crds     []*vetted
	mapped   []*markervet.CRD
	of       []int // for each of mapped: its index in crds
	unread   []goFinding
	findings []goFinding
}

type goFinding struct {
	finding.Finding
	shown []string
	of    string
	paths []markervet.ObjectPath
}

func (r *goRun) add(one *vetted) {
	crd, err := resource.DecodeCompact(one.doc)
	r.crds = append(r.crds, one)
	if one.report == nil || err != nil || crd == nil {
		for _, f := range one.findings(r.width) { // no Go source is known
			r.unread = append(r.unread, goFinding{Finding: f, shown: f.Details})
		}
		return
	}
	one.source = markervet.New(r.src.Source, crd.ForEngine(), one.report, one.lints, shown)
	r.mapped = append(r.mapped, one.source)
	r.of = append(r.of, len(r.crds)-1)
}

const maxLocations = 5

func (r *goRun) end() {
	r.cannotRead()
	for _, f := range markervet.Find(r.src.Source, r.mapped, r.without) {
		at := finding.Location{File: f.File, Line: f.Position.Line, Column: f.Column, Field: f.Of + " " + f.Rule}
		if f.Position.Line > 0 {
			at.Excerpt = finding.NewExcerpt(f.Line, f.Column-1, len(f.Line), r.width, nil)
		} else {
			at = r.crds[r.of[f.CRD]].inFile(f.Field, r.width)
		}
		details := slices.Clone(f.Shown)
		for i, p := range f.Paths {
			if i == maxLocations && len(f.Paths) > maxLocations+1 {
				details = append(details, fmt.Sprintf("and in %d more places", len(f.Paths)-i))
				break
			}
			details = append(details, "in "+p.String())
		}
		r.findings = append(r.findings, goFinding{finding.Finding{
			ID: f.ID, Description: f.Description, Level: f.Level, At: at, Subject: []string{at.File, f.Of},
			Message: f.Message, Expression: f.Rule, Details: details, Kind: f.Kind, Lint: f.Lint, Write: f.Write,
		}, f.Shown, f.Of, f.Paths})
	}
	r.sum.Go = r.count()
	r.findings = append(r.unread, r.findings...)
	r.sum.Lints = 0
	for _, f := range r.findings {
		if f.Level == markervet.Warning && f.ID != "warning" {
			r.sum.Lints++
		}
	}
}

func (r *goRun) all() (list []finding.Finding) {
	for _, f := range r.findings {
		list = append(list, f.Finding)
	}
	return list
}

func (one *vetted) inFile(field string, width int) finding.Location {
	at := one.inYAML([]string{field}, width)[0]
	if at.Line == 0 {
		at = one.crdLocation()
		at.Field = field
	}
	return at
}

func (r *goRun) cannotRead() {
	add := func(at finding.Location, text string) {
		r.sum.Unreadable++
		r.unread = append(r.unread, goFinding{Finding: finding.Finding{
			ID: unreadable, Description: "An unreadable file", Level: "error", Message: text, At: at,
			Subject: []string{at.File, ""},
		}})
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
				add(r.crds[r.of[i]].inFile(rule.Field, r.width), fmt.Sprintf("package %s, whose types have this rule: %v", rule.Missing, err))
			}
		}
	}
}

type goSummary struct {
	Files   int `json:"files"`
	Markers int `json:"markers"`
	Rules   int `json:"rules"`
	// Mapped counts rules with a marker, Ambiguous rules with several markers.
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

// golang writes findings in the format of compiler errors.
func (p *textPrinter) golang(r *goRun) error {
	var b strings.Builder
	for i := range r.findings {
		f := &r.findings[i].Finding
		if p.quiet && f.Level != markervet.Error {
			continue
		}
		untrusted.Fprintf(&b, "%s: %s: %s\n", f.At.Place(), p.head(f), print.Sentence(f.Message))
		f.At.ShowLine(&b)
		print.ShowDetails(&b, f)
	}
	if !p.quiet {
		for _, one := range r.crds {
			one.oneLine(p, &b)
		}
		s := r.sum.Go
		rules, files := phrase.Count(s.Rules, "rule"), phrase.Count(s.Files, "Go file")
		untrusted.Fprintf(&b, "%d of %s found in %s", s.Mapped, rules, files)
		if s.Undeclared > 0 {
			untrusted.Fprintf(&b, "; %s of kinds that are not in these packages", phrase.Count(s.Undeclared, "CRD"))
		}
		b.WriteByte('\n')
	}
	return p.write(&b)
}

func (one *vetted) oneLine(p *textPrinter, b *strings.Builder) {
	r := one.report
	verdict := p.out.Paint(untrusted.Red, "rejected")
	switch {
	case r == nil:
		return
	case r.Accepted:
		verdict = p.accepted(r.MinKubeVersion)
	case one.undecided():
		verdict = p.out.Paint(untrusted.Red, "undecided")
	}
	untrusted.Fprintf(b, "%s: %s", r.Name, verdict)
	for _, v := range versions(r) {
		untrusted.Fprintf(b, "; %s: %s, %s of the cost limit", v.Name, phrase.Count(len(v.Rules), "rule"), share(v.EstimatedCost, v.Limit))
	}
	untrusted.Fprintf(b, " (%s)\n", one.doc.Location())
}

func (p *listPrinter) golang(r *goRun) error {
	if !p.cases {
		return p.add("", r.all(), nil)
	}
	for _, one := range r.crds {
		if err := p.crd(one); err != nil {
			return err
		}
	}
	return nil
}

func (p *jsonPrinter) golang(r *goRun) error {
	p.findings = []goReport{}
	for i := range r.findings {
		f := &r.findings[i]
		p.findings = append(p.findings, goReport{
			f.ID, f.Level, f.Message, f.Expression, f.shown, f.of, f.At.File, f.At.Line, f.At.Column,
			append([]markervet.ObjectPath{}, f.paths...),
		})
	}
	for _, one := range r.crds {
		p.crds = append(p.crds, newCRDReport(one))
	}
	return nil
}

type goReport struct {
	ID      string                 `json:"id"`
	Level   string                 `json:"level"`
	Message string                 `json:"message"`
	Rule    string                 `json:"rule,omitempty"`
	Shown   []string               `json:"shown,omitempty"`
	Of      string                 `json:"of,omitempty"`
	File    string                 `json:"file"`
	Line    int                    `json:"line,omitempty"`
	Column  int                    `json:"column,omitempty"`
	Paths   []markervet.ObjectPath `json:"places"`
}
