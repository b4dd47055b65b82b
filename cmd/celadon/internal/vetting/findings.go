package vetting

import (
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/internal/phrase"
)

// finding is one thing to show at one place.
type finding struct {
	id, description, message string
	rule                     string   // that it is about; "" is none
	shown                    []string // lines that show it
	level                    string   // error, warning or note
	at                       report.Place
	ref                      *engine.RuleRef // the rule that it is about, where it has a place
}

// findings are what keeps a CRD from being accepted, what the server warns of,
// lints, and advice.
func (one *vetted) findings() (list []finding) {
	whole := report.Place{File: one.doc.File, Line: one.doc.Line}
	add := func(f finding) {
		if f.at.Line == 0 {
			f.at.File, f.at.Line = whole.File, whole.Line
		}
		list = append(list, f)
	}
	if one.problem != nil {
		add(finding{id: "unreadable", description: "What cannot be read as a CustomResourceDefinition", level: "error", message: one.problem.Error(), at: whole})
		return list
	}
	r := one.report
	if one.undecided() {
		add(finding{id: "undecided", description: "A CRD that asks for more work than is done", level: "error", message: r.Undecided.Error(), at: whole})
	}
	if r.Status != nil && len(r.Causes) == 0 {
		f := finding{id: string(r.Status.Reason), description: "A request that the API server does not take", level: "error", message: r.Status.Message, at: whole}
		if strict := one.strict(0); len(strict) > 0 {
			f.at = strict[0]
		}
		if c := one.panic(0); c != nil {
			f.message, f.rule, f.ref = f.message+" "+c.Message, c.Rule, c.Ref
			f.at = c.Place()
		}
		add(f)
	}
	for _, c := range one.causes(0) {
		add(finding{
			id: c.Reason, description: "A check of the API server: " + c.Reason, level: "error", message: c.Field + ": " + c.Message, rule: c.Rule, ref: c.Ref,
			at: c.Place(),
		})
	}
	for _, w := range r.Warnings {
		add(finding{id: "warning", description: "A warning of the API server", level: "warning", message: w, at: whole})
	}
	for i, at := range one.lintPlaces(0) {
		l := &one.lints[i]
		at.Field = l.Path + " " + l.Rule // its identity, whatever rules come before it
		add(finding{id: l.Name, description: "What the API server accepts and authors regret", level: "warning", message: l.Message, rule: l.Rule, shown: shown(l), at: at})
	}
	for _, v := range r.Versions {
		for i, at := range one.advicePlaces(v.Advice) {
			a := &v.Advice[i]
			at.Field = a.Field + "." + a.Set
			add(finding{id: "advice", description: "A bound that makes rules fit", level: "note", message: fmt.Sprintf("%s: %s: set %s: %d", v.Name, phrase.Place(a.Path), a.Set, a.Value), at: at})
		}
	}
	return list
}

// gitHubPrinter writes workflow commands, which GitHub shows beside the lines.
type gitHubPrinter struct{ out *foreign.Writer }

func (p *gitHubPrinter) crd(one *vetted) error {
	for _, f := range one.findings() {
		if err := p.finding(&f); err != nil {
			return err
		}
	}
	return nil
}

func (p *gitHubPrinter) finding(f *finding) error {
	level := f.level
	if level == "note" {
		level = "notice"
	}
	text := report.Sentence(f.message)
	if f.rule != "" {
		text += "\nrule: " + foreign.Line(lex.Flat(f.rule))
	}
	for _, line := range f.shown {
		text += "\n" + foreign.Line(line)
	}
	return report.Annotate(p.out, level, f.at, f.id, text)
}

func (p *gitHubPrinter) end(s *summary) error {
	_, err := fmt.Fprintln(p.out, s)
	return err
}

type sarifPrinter struct{ log *report.SARIF }

func (p *sarifPrinter) crd(one *vetted) error {
	name := ""
	if one.report != nil {
		name = one.report.Name
	}
	for _, f := range one.findings() {
		if err := p.finding(&f, name); err != nil {
			return err
		}
	}
	return nil
}

// body is the whole text of a finding.
func (f *finding) body() string {
	text := f.message
	if f.rule != "" {
		text += "\nrule: " + f.rule
	}
	for _, line := range f.shown {
		text += "\n" + line
	}
	return text
}

// finding adds one in what has an identity: a CRD, or a type of Go.
func (p *sarifPrinter) finding(f *finding, of string) error {
	return p.log.Add(f.id, f.description, f.level, f.at, f.body(), f.at.File, of)
}

func (p *sarifPrinter) end(s *summary) error { return p.log.Close(s.Interrupted) }
