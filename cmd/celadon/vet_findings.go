package main

import (
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// finding is one thing to show at one place.
type finding struct {
	id, description, message string
	level                    string // error, warning or note
	at                       report.Place
}

// findings are what keeps a CRD from being accepted, what the server warns of,
// lints, and advice.
func (one *vetted) findings() (list []finding) {
	whole := report.Place{File: one.doc.File, Line: one.doc.Line}
	add := func(id, description, level, message string, at report.Place) {
		if at.Line == 0 {
			at.File, at.Line = whole.File, whole.Line
		}
		list = append(list, finding{id, description, message, level, at})
	}
	if one.problem != nil {
		add("unreadable", "What cannot be read as a CustomResourceDefinition", "error", one.problem.Error(), whole)
		return list
	}
	r := one.report
	if one.undecided() {
		add("undecided", "A CRD that asks for more work than is done", "error", r.Undecided.Error(), whole)
	}
	if r.Status != nil && len(r.Causes) == 0 {
		at := whole
		if strict := one.strict(); len(strict) > 0 {
			at = strict[0]
		}
		add(string(r.Status.Reason), "A request that the API server does not take", "error", r.Status.Message, at)
	}
	for _, c := range one.causes() {
		add(c.Reason, "A check of the API server: "+c.Reason, "error", c.Field+": "+c.Message, report.Place{File: c.File, Line: c.Line, Column: c.Column, Field: c.Field})
	}
	for _, w := range r.Warnings {
		add("warning", "A warning of the API server", "warning", w, whole)
	}
	for _, l := range one.lints() {
		add(l.Lint, "What the API server accepts and authors regret", "warning", l.Message, report.Place{File: l.File, Line: l.Line, Column: l.Column, Field: l.Path})
	}
	for _, v := range r.Versions {
		places := one.places(adviceFields(v.Advice))
		for i, a := range v.Advice {
			at := report.Place{File: one.doc.File, Line: places[i].Line, Column: places[i].Column, Field: a.Field + "." + a.Set}
			add("advice", "A bound that makes rules fit", "note", fmt.Sprintf("%s: %s: set %s: %d", v.Name, rootOr(a.Path), a.Set, a.Value), at)
		}
	}
	return list
}

// vetGitHub writes workflow commands, which GitHub shows beside the lines.
type vetGitHub struct{ out *foreign.Writer }

func (p *vetGitHub) crd(one *vetted) error {
	for _, f := range one.findings() {
		level := f.level
		if level == "note" {
			level = "notice"
		}
		if err := report.Annotate(p.out, level, f.at, f.id, report.Sentence(f.message)); err != nil {
			return err
		}
	}
	return nil
}

func (p *vetGitHub) end(s *vetSummary) error {
	_, err := fmt.Fprintln(p.out, s)
	return err
}

type vetSARIF struct{ log *report.SARIF }

func (p *vetSARIF) crd(one *vetted) error {
	name := ""
	if one.report != nil {
		name = one.report.Name
	}
	for _, f := range one.findings() {
		if err := p.log.Add(f.id, f.description, f.level, f.at, f.message, f.at.File, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *vetSARIF) end(s *vetSummary) error { return p.log.Close(s.Interrupted) }
