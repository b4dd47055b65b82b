package vet

import (
	"cmp"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/assist"
)

// crdFinding is a problem at a position.
type crdFinding struct {
	id, description, message string
	rule                     string   // the rule with the problem, or ""
	shown                    []string // details
	code                     string   // the kind of mistake in the rule, or ""
	level                    string   // error, warning, or note
	at                       finding.Location
	ref                      *engine.RuleRef // the rule in the CRD, if it can be located
	kind                     engine.CauseKind
	lint                     *vet.Lint
}

// crdLocation is the position of a finding about the whole CRD.
func (one *vetted) crdLocation() finding.Location {
	return finding.Location{File: one.doc.File, Line: one.doc.Line}
}

// findings returns the errors, warnings, lints, and advice of a CRD.
func (one *vetted) findings() (list []crdFinding) {
	whole := one.crdLocation()
	add := func(f crdFinding) {
		if f.at.Line == 0 {
			f.at.File, f.at.Line = whole.File, whole.Line
		}
		list = append(list, f)
	}
	if one.problem != nil {
		add(crdFinding{id: "unreadable", description: "A document that cannot be read as a CustomResourceDefinition", level: "error", message: one.problem.Error(), at: whole})
		return list
	}
	r := one.report
	if r.Undecided != nil {
		add(crdFinding{id: "undecided", description: "A CRD that exceeds the work limit", level: "error", message: r.Undecided.Error(), at: whole})
	}
	if r.Status != nil && len(r.Causes) == 0 {
		f := crdFinding{id: string(r.Status.Reason), description: "A request that the API server cannot process", level: "error", message: r.Status.Message, at: whole}
		strict := one.strict(0)
		if len(strict) > 0 {
			f.at = strict[0]
		}
		for _, at := range strict {
			if at.Hint != "" {
				f.shown = append(f.shown, at.Field+": "+at.Hint)
			}
		}
		if c := one.panic(0); c != nil {
			f.message, f.rule, f.ref = f.message+" "+c.Message, c.Rule, c.Ref
			f.at = c.Location()
		}
		add(f)
	}
	causes := one.causes(0)
	for i := range causes {
		add(newCauseFinding(&causes[i]))
	}
	for _, c := range one.following(causes, 0) {
		f := newCauseFinding(&c)
		f.level, f.message = "note", print.Follows+f.message
		add(f)
	}
	if f, ok := one.kubeVersionFinding(); ok {
		add(f)
	}
	for _, w := range r.Warnings {
		add(crdFinding{id: "warning", description: "A warning of the API server", level: "warning", message: w, at: whole})
	}
	for i, at := range one.lintLocations(0) {
		l := &one.lints[i]
		at.Field = l.Path + " " + l.Rule // identifies the lint even if rules are inserted before it
		add(crdFinding{id: l.Name, description: "An accepted definition that causes problems later", level: "warning", message: l.Message, rule: l.Rule, shown: shown(l), at: at, lint: &l.Lint})
	}
	for _, v := range r.Versions {
		for i, at := range one.adviceLocations(v.Advice) {
			a := &v.Advice[i]
			at.Field = a.Field + "." + a.Set
			add(crdFinding{id: "advice", description: "A bound that makes rules fit", level: "note", message: fmt.Sprintf("%s: %s: set %s: %d", v.Name, phrase.Path(a.Path), a.Set, a.Value), at: at})
		}
	}
	return list
}

// newCauseFinding returns the finding of a cause. A cause without message is described by its summary.
func newCauseFinding(c *finding.Cause) crdFinding {
	hints := *c
	if c.Message == "" {
		hints.Summary = ""
	}
	f := crdFinding{
		id: c.Reason, description: "A check of the API server: " + c.Reason, level: "error", message: c.Field + ": " + cmp.Or(c.Message, c.Summary), rule: c.Rule, ref: c.Ref,
		at: c.Location(), shown: print.HintLines(&hints), kind: c.Kind,
	}
	if known, ok := assist.Find(c.Code); ok {
		f.id, f.description, f.code = c.Code, known.Cause, c.Code
	}
	return f
}

// listPrinter writes the findings about CRDs in a format that lists findings.
type listPrinter struct{ list print.List }

func (p *listPrinter) crd(one *vetted) error {
	return p.list.Add(finding.Result{Findings: one.listed, Cases: one.cases})
}

func (p *listPrinter) end(s *summary) error {
	return p.list.End(print.End{Text: s.String() + "\n", Interrupted: s.Interrupted})
}

// listed yields the findings for a list.
func (one *vetted) listed(yield func(finding.Finding) bool) {
	name := ""
	if one.report != nil {
		name = one.report.Name
	}
	for _, f := range one.findings() {
		if !yield(f.listed(name)) {
			return
		}
	}
}

// listed returns the finding for a list. of is the CRD or Go type.
func (f *crdFinding) listed(of string) finding.Finding {
	note := print.Sentence(f.message)
	if f.rule != "" {
		note += "\nrule: " + untrusted.Line(lex.Flat(f.rule))
	}
	for _, line := range f.shown {
		note += "\n" + untrusted.Line(line)
	}
	return finding.Finding{
		ID: f.id, Description: f.description, Level: f.level, At: f.at, Text: f.body(), Title: f.id, Note: note, Subject: []string{f.at.File, of}, Rule: f.ref, Code: f.code,
		Kind: f.kind, Lint: f.lint,
	}
}

// body returns the message with the rule and details.
func (f *crdFinding) body() string {
	text := f.message
	if f.rule != "" {
		text += "\nrule: " + f.rule
	}
	for _, line := range f.shown {
		text += "\n" + line
	}
	return text
}
